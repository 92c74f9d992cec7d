import { mod97 } from './mod97.ts';
import { findCountryFormat, findUnregisteredFormat, type Span } from './registry.ts';

export type IbanProblem =
  | 'EMPTY'
  | 'ILLEGAL_CHARACTERS'
  | 'UNKNOWN_COUNTRY'
  | 'NOT_REGISTERED'
  | 'TOO_SHORT'
  | 'TOO_LONG'
  | 'WRONG_STRUCTURE'
  | 'CHECK_DIGITS_OUT_OF_RANGE'
  | 'WRONG_CHECK_DIGITS';

export interface IbanParts {
  countryCode: string;
  checkDigits: string;
  bban: string;
  bankCode: string;
  branch: string | null;
  nationalCheckDigits: string | null;
  /** The BBAN after bank code and branch: the account number with any national check digits before or after it. */
  bbanRemainder: string;
}

/**
 * Normalizes an IBAN: capital letters, without white space, dashes and invisible characters (soft hyphens, zero-width
 * and direction marks from pasted text). Only a-z become capitals: the capital of `ſ` is S, and a wrong character must
 * not become a right one.
 * @example
 * compactIban(' de89 3704-0044 0532 0130 00') // => 'DE89370400440532013000'
 */
export function compactIban(text: string): string {
  if (compacted.test(text)) return text;
  return text.replace(decoration, '').replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/**
 * All problems of a compacted IBAN, in the order of `IbanProblem`; empty if it is valid. Illegal characters and an
 * unknown country are reported alone. An IBAN of a country that uses IBANs without registration is never valid, but checked as
 * others are. Structure and check digits are checked only if the length is right: a user who types sees one problem. Wrong national
 * check digits do not make an IBAN invalid.
 * @example
 * findIbanProblems('DE8837040044053201300') // => ['TOO_SHORT']
 * findIbanProblems('MA64011519000001205000534921') // => ['NOT_REGISTERED']
 */
export function findIbanProblems(iban: string): readonly IbanProblem[] {
  if (iban === '') return ['EMPTY'];
  if (/[^A-Z0-9]/.test(iban)) return ['ILLEGAL_CHARACTERS'];
  if (/^[A-Z]$/.test(iban)) return ['TOO_SHORT'];
  const country = iban.slice(0, 2);
  const registered = findCountryFormat(country);
  const format = registered ?? findUnregisteredFormat(country);
  if (format === null) return ['UNKNOWN_COUNTRY'];

  const problems: IbanProblem[] = registered ? [] : ['NOT_REGISTERED'];
  if (iban.length < format.length) return [...problems, 'TOO_SHORT'];
  if (iban.length > format.length) return [...problems, 'TOO_LONG'];
  if (!format.regex.test(iban)) problems.push('WRONG_STRUCTURE');
  const checkDigits = iban.slice(2, 4);
  const isCheckable = /^\d\d$/.test(checkDigits);
  // 00, 01 and 99 leave the same remainders as 97, 98 and 02, so mod 97 alone accepts them.
  if (isCheckable && ['00', '01', '99'].includes(checkDigits)) problems.push('CHECK_DIGITS_OUT_OF_RANGE');
  if (isCheckable && mod97(iban, 4) !== 1) problems.push('WRONG_CHECK_DIGITS');
  return problems;
}

/**
 * Whether a compacted IBAN has its country's format and the right check digits.
 * @example
 * isValidIban('DE89370400440532013000') // => true
 * isValidIban('DE88370400440532013000') // => false
 */
export function isValidIban(iban: string): boolean {
  return findIbanProblems(iban).length === 0;
}

/**
 * The parts of a compacted IBAN, even if its check digits are wrong; null if its structure is wrong or its country is not in the
 * registry.
 * @example
 * const parts = parseIban('FR1420041010050500013M02606');
 * [parts.bankCode, parts.branch, parts.nationalCheckDigits] // => ['20041', '01005', '06']
 * parts.bbanRemainder // => '0500013M02606'
 */
export function parseIban(iban: string): IbanParts | null {
  const format = findCountryFormat(iban.slice(0, 2));
  if (format === null || /[^A-Z0-9]/.test(iban) || !format.regex.test(iban)) return null;
  const bban = iban.slice(4);
  return {
    countryCode: format.country,
    checkDigits: iban.slice(2, 4),
    bban,
    bankCode: sliceSpan(bban, format.bankCode),
    branch: format.branch && sliceSpan(bban, format.branch),
    nationalCheckDigits: format.nationalCheckDigits && sliceSpan(bban, format.nationalCheckDigits),
    bbanRemainder: bban.slice((format.branch ?? format.bankCode).last),
  };
}

/**
 * A compacted IBAN in groups of four, as on paper (ISO 13616).
 * @example
 * printIban('DE89370400440532013000') // => 'DE89 3704 0044 0532 0130 00'
 */
export function printIban(iban: string): string {
  return iban.replace(/.{4}(?=.)/g, '$& ');
}

/**
 * A compacted IBAN in groups of four that shows only the country, the check digits and the last four characters. Only the length is
 * shown of a text that is too short, or does not begin as an IBAN does: it may be the number of a card.
 * @example
 * maskIban('DE89370400440532013000') // => 'DE89 **** **** **** **30 00'
 * maskIban('4111111111111111') // => '**** **** **** ****'
 */
export function maskIban(iban: string): string {
  const shown = /^[A-Z]{2}\d\d[A-Z0-9]*$/.test(iban) && iban.length >= shortestIban ? 4 : 0;
  const hidden = iban.length - 2 * shown;
  return printIban(iban.slice(0, shown) + '*'.repeat(hidden) + iban.slice(shown + hidden));
}

/**
 * Describes a problem of this compacted IBAN in one sentence. It contains the country and the length, but never the
 * IBAN, which is personal data: such sentences end up in logs.
 * @example
 * describeIbanProblem('TOO_SHORT', 'DE8937040044') // => 'An IBAN of DE has 22 characters; this one has 12.'
 */
export function describeIbanProblem(problem: IbanProblem, iban: string): string {
  const code = iban.slice(0, 2);
  const format = findCountryFormat(code) ?? findUnregisteredFormat(code);
  const country = format?.country ?? 'that country';
  switch (problem) {
    case 'EMPTY':
      return 'The IBAN is empty; it must have at least 15 characters.';
    case 'ILLEGAL_CHARACTERS':
      return 'An IBAN consists of the letters A to Z and the digits 0 to 9 only.';
    case 'UNKNOWN_COUNTRY':
      return 'An IBAN starts with the code of a country that has IBANs; this one does not.';
    case 'NOT_REGISTERED':
      return `${country} is not in the SWIFT IBAN registry, so that banks elsewhere may not accept its IBANs.`;
    case 'TOO_SHORT':
    case 'TOO_LONG':
      if (format === null) return `An IBAN has at least 15 characters; this one has ${iban.length}.`;
      return `An IBAN of ${country} has ${format.length} characters; this one has ${iban.length}.`;
    case 'WRONG_STRUCTURE':
      return `An IBAN of ${country} has the format ${format?.format} (n: digits, a: letters, c: either); this one does not.`;
    case 'CHECK_DIGITS_OUT_OF_RANGE':
      return 'The check digits of an IBAN are between 02 and 98; these are not.';
    case 'WRONG_CHECK_DIGITS':
      return 'The check digits do not match the rest of the IBAN.';
  }
}

/** Norwegian IBANs have 15 characters. */
export const shortestIban = 15;
const compacted = /^[A-Z0-9]*$/;
const decoration = /[\s\p{Dash_Punctuation}\p{Default_Ignorable_Code_Point}]+/gu;

function sliceSpan(bban: string, { first, last }: Span): string {
  return bban.slice(first - 1, last);
}
