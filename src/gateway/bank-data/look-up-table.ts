import { LRUCache } from 'lru-cache';
import type { CacheStatus } from '../telemetry/metrics/exposition.ts';
import type { BankData, IbanData, IbanValidation } from './bank-data.ts';
import { noPurges, type Purges } from './purges.ts';

/** An answer with its times, in milliseconds since 1970. */
export interface TimedAnswer {
  answer: object;
  freshUntil: number;
  /** End of the time in which it may be served stale. */
  staleUntil: number;
  /** The number of the last purge that does not affect it: it was looked up, or compared with the purges, after it. */
  lastPurge: number;
}

/**
 * The entries of the look-up cache, by key, bounded in bytes: the least recently used ones are removed. What the answers about one
 * bank have in common is kept once.
 */
export function createLookUpTable(maxBytes: number, purges: Purges = noPurges) {
  const findTemplate = createAnswerTemplates(Math.ceil(Math.min(maxBanks, maxBytes / bytesPerBank)));
  const entries = new LRUCache<string, TimedAnswer>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }, key) => bytesPerEntry + 2 * key.length + bytesOf(answer),
  });

  return {
    get(key: string): TimedAnswer | null {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      const answer = entry.answer instanceof AnswerTemplate ? entry.answer.restore(key) : entry.answer;
      if (entry.lastPurge < purges.latest) {
        if (purges.covers(key, { ...entry, answer })) {
          entries.delete(key);
          return null;
        }
        entry.lastPurge = purges.latest;
      }
      return entry.answer === answer ? entry : { ...entry, answer };
    },
    set(key: string, { answer, ...rest }: TimedAnswer): void {
      entries.set(key, { answer: findTemplate(key, answer) ?? answer, ...rest });
    },
    status: (): CacheStatus => ({ entries: entries.size, bytes: entries.calculatedSize }),
    clear: () => entries.clear(),
  };
}

/** At most this many templates; a small cache has fewer. They do not count towards its limit. */
const maxBanks = 10_000;
const bytesPerBank = 2_800;

/** Roughly, the memory of a value as in JSON. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return bytesPerText + value.length;
  if (typeof value !== 'object' || value === null) return bytesPerField;
  let bytes = bytesPerObject;
  for (const name in value) bytes += bytesOf(value[name as keyof typeof value]);
  return bytes;
}

/** Resident memory of an entry besides its key and its answer, as measured. */
const bytesPerEntry = 200;
const bytesPerObject = 40;
const bytesPerField = 8;
const bytesPerText = 24;

/** Returns the template that restores the answer kept under this key; null if the answer itself must be kept. */
type FindTemplate = (key: string, answer: object) => AnswerTemplate | null;

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
type KnownValidation = IbanValidation & { ibanData: IbanData; bankData: BankData };

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

/**
 * What the answers about a bank have in common, and which of their texts are parts of the IBAN. Of these parts, it keeps the
 * positions only.
 */
class AnswerTemplate {
  readonly #ibanData: IbanData;
  readonly #bankData: BankData;
  readonly #parts: readonly Part[];

  constructor({ iban, ibanData, bankData }: KnownValidation) {
    this.#bankData = bankData;
    this.#parts = partNames.flatMap((name) => {
      const text = ibanData[name];
      const first = text === null ? -1 : partsOfIban[name](iban, text);
      return text === null || first === -1 ? [] : [{ name, first, end: first + text.length }];
    });
    this.#ibanData = { ...ibanData };
    for (const { name } of this.#parts) this.#ibanData[name] = '';
  }

  /** Whether `restore` returns this answer. */
  fits({ iban, ibanData, bankData }: KnownValidation): boolean {
    return hasSameFields(this.#restoreData(iban), ibanData) && hasSameFields(this.#bankData, bankData);
  }

  restore(iban: string): IbanValidation {
    return { iban, valid: true, problems: [], ibanData: this.#restoreData(iban), bankData: this.#bankData };
  }

  #restoreData(iban: string): IbanData {
    const ibanData = { ...this.#ibanData };
    for (const { name, first, end } of this.#parts) ibanData[name] = iban.slice(first, end);
    return ibanData;
  }
}

function hasSameFields<Fields extends object>(one: Fields, other: Fields): boolean {
  for (const name in one) if (one[name] !== other[name]) return false;
  return true;
}

/** The fields that may be parts of the IBAN, and where each of them is searched for. */
const partsOfIban = {
  checksum: (iban: string, text: string) => iban.indexOf(text, 2),
  bban: (iban: string, text: string) => iban.lastIndexOf(text),
  branch: (iban: string, text: string) => iban.indexOf(text, 4),
  accountNumber: (iban: string, text: string) => iban.lastIndexOf(text),
  nationalChecksum: (iban: string, text: string) => iban.lastIndexOf(text),
};
type PartName = keyof typeof partsOfIban;
const partNames = Object.keys(partsOfIban) as PartName[];

interface Part {
  name: PartName;
  first: number;
  end: number;
}
