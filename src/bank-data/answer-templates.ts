import { LRUCache } from 'lru-cache';
import type { Bank, IbanData, IbanValidation } from './bank-data.ts';

/** A part of an IBAN. */
interface Part {
  first: number;
  length: number;
}

/**
 * What the answers about a bank have in common, and which of their texts are parts of the IBAN. Of these parts, it keeps the
 * positions only.
 */
export class AnswerTemplate {
  readonly #ibanData: IbanData;
  readonly #bankData: Bank;
  readonly #checksum: Part | null;
  readonly #bban: Part | null;
  readonly #branch: Part | null;
  readonly #accountNumber: Part | null;
  readonly #nationalChecksum: Part | null;

  constructor({ iban, ibanData, bankData }: KnownValidation) {
    const { checksum, bban, branch, accountNumber, nationalChecksum } = ibanData;
    this.#bankData = bankData;
    this.#checksum = toPart(checksum, iban.indexOf(checksum, 2));
    this.#bban = toPart(bban, iban.lastIndexOf(bban));
    this.#branch = branch === null ? null : toPart(branch, iban.indexOf(branch, 4));
    this.#accountNumber = accountNumber === null ? null : toPart(accountNumber, iban.lastIndexOf(accountNumber));
    this.#nationalChecksum =
      nationalChecksum === null ? null : toPart(nationalChecksum, iban.lastIndexOf(nationalChecksum));
    this.#ibanData = {
      ...ibanData,
      checksum: this.#checksum ? '' : checksum,
      bban: this.#bban ? '' : bban,
      branch: this.#branch ? '' : branch,
      accountNumber: this.#accountNumber ? '' : accountNumber,
      nationalChecksum: this.#nationalChecksum ? '' : nationalChecksum,
    };
  }

  /** Whether `restore` returns this answer. */
  fits({ iban, ibanData, bankData }: KnownValidation): boolean {
    const { checksum, bban, branch, accountNumber, nationalChecksum } = this.#ibanData;
    return (
      hasText(iban, ibanData.accountNumber, this.#accountNumber, accountNumber) &&
      hasText(iban, ibanData.bban, this.#bban, bban) &&
      hasText(iban, ibanData.checksum, this.#checksum, checksum) &&
      hasText(iban, ibanData.branch, this.#branch, branch) &&
      hasText(iban, ibanData.nationalChecksum, this.#nationalChecksum, nationalChecksum) &&
      ibanData.country === this.#ibanData.country &&
      ibanData.countryCode === this.#ibanData.countryCode &&
      ibanData.sepaCountry === this.#ibanData.sepaCountry &&
      ibanData.bankCode === this.#ibanData.bankCode &&
      ibanData.countryIbanFormatAsSwift === this.#ibanData.countryIbanFormatAsSwift &&
      ibanData.countryIbanFormatAsRegex === this.#ibanData.countryIbanFormatAsRegex &&
      bankData.bankCode === this.#bankData.bankCode &&
      bankData.countryCode === this.#bankData.countryCode &&
      bankData.address === this.#bankData.address &&
      bankData.name === this.#bankData.name &&
      bankData.zip === this.#bankData.zip &&
      bankData.city === this.#bankData.city &&
      bankData.bic === this.#bankData.bic &&
      bankData.bicSource === this.#bankData.bicSource &&
      bankData.source === this.#bankData.source &&
      bankData.date === this.#bankData.date
    );
  }

  restore(iban: string): IbanValidation {
    const { checksum, bban, branch, accountNumber, nationalChecksum } = this.#ibanData;
    const ibanData: IbanData = {
      ...this.#ibanData,
      checksum: textIn(iban, this.#checksum, checksum),
      bban: textIn(iban, this.#bban, bban),
      branch: textIn(iban, this.#branch, branch),
      accountNumber: textIn(iban, this.#accountNumber, accountNumber),
      nationalChecksum: textIn(iban, this.#nationalChecksum, nationalChecksum),
    };
    return { iban, valid: true, problems: [], ibanData, bankData: this.#bankData };
  }
}

/** Returns the template that restores the answer kept under this key; null if the answer itself must be kept. */
export type FindTemplate = (key: string, answer: object) => AnswerTemplate | null;

/**
 * The templates of banks: an answer that is kept as one takes less than half of the memory. The template of a bank is made
 * from its second answer, and again from one that does not fit the previous template. That answer is kept as it is, so that
 * a bank whose answers never fit has one template, not one for each of them; a bank with a single answer has none.
 */
export function createAnswerTemplates(maxBanks: number): FindTemplate {
  const templates = new LRUCache<string, AnswerTemplate | typeof seenOnce>({ max: maxBanks });
  return (key, answer) => {
    if (!isKnownValidation(answer) || answer.iban !== key) return null;
    const { countryCode, bankCode, branch } = answer.ibanData;
    const bank = `${countryCode}${bankCode ?? ''}${branch === null ? '' : `:${branch}`}`;
    const template = templates.get(bank);
    if (template !== undefined && template !== seenOnce && template.fits(answer)) return template;
    if (hasShortTexts(answer)) templates.set(bank, template === undefined ? seenOnce : new AnswerTemplate(answer));
    return null;
  };
}

/** Instead of a template. */
const seenOnce = 'seen once';

/** The answer for a valid IBAN whose parts and bank the service knows. */
type KnownValidation = IbanValidation & { ibanData: IbanData; bankData: Bank };

function isKnownValidation(answer: Partial<IbanValidation>): answer is KnownValidation {
  const { valid, problems, ibanData, bankData } = answer;
  return valid === true && problems?.length === 0 && Boolean(ibanData) && Boolean(bankData);
}

/** Templates are not part of the cache's limit. An answer from the shared cache may also have values of other types. */
function hasShortTexts({ ibanData, bankData }: KnownValidation): boolean {
  const { checksum, bban, sepaCountry, ...texts } = ibanData;
  const isShort = (text: unknown) => typeof text === 'string' && text.length <= maxTextLength;
  const optional = [...Object.values(texts), ...Object.values(bankData)];
  return isShort(checksum) && isShort(bban) && optional.every((text) => text === null || isShort(text));
}

/** The names and formats of countries and banks are shorter. */
const maxTextLength = 100;

/** @param first its position in the IBAN; -1 if it is none of its parts */
function toPart({ length }: string, first: number): Part | null {
  return first === -1 ? null : { first, length };
}

/** @param same the text of all answers if it is no part of the IBAN */
function hasText(iban: string, text: string | null, part: Part | null, same: string | null): boolean {
  if (part === null) return text === same;
  return text?.length === part.length && iban.startsWith(text, part.first);
}

function textIn<Same extends string | null>(iban: string, part: Part | null, same: Same): Same | string {
  return part === null ? same : iban.slice(part.first, part.first + part.length);
}
