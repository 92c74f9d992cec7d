import { mod97 } from './mod97.ts';
import { type CountryFormat, findCountryFormat, type Span } from './registry.ts';

/** Everything that can be wrong with an IBAN, from the plainest to the subtlest. */
export const ibanProblems = [
  'ILLEGAL_CHARACTERS',
  'UNKNOWN_COUNTRY',
  'WRONG_LENGTH',
  'WRONG_STRUCTURE',
  'CHECK_DIGITS_OUT_OF_RANGE',
  'WRONG_CHECK_DIGITS',
] as const;

export type IbanProblem = (typeof ibanProblems)[number];

/** An IBAN, part by part. */
export interface IbanParts {
  countryCode: string;
  checkDigits: string;
  bban: string;
  bankCode: string;
  branch: string | null;
  /** The bare account number, without national check digits. */
  accountNumber: string;
  nationalCheckDigits: string | null;
  /** What follows bank and branch code: the account number with any national check digits before or after it. */
  bbanRemainder: string;
}

/**
 * The one spelling of an IBAN: capitals, without white space, dashes of any kind and what cannot be seen at all
 * (soft hyphens, zero-width and direction marks, which come along when text is pasted). Only a-z become capitals: the
 * capital of `ſ` is an S, and a wrong character must not turn into a right one.
 */
export function compactIban(text: string): string {
  return text.replace(decoration, '').replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/**
 * Every problem of a compacted IBAN, in the order of `ibanProblems`; empty when it is valid. What cannot be judged is
 * not reported: illegal characters or an unknown country stand alone, the structure is judged at the right length
 * only, and the check digits only if they are digits. National check digits never make an IBAN invalid.
 */
export function findIbanProblems(iban: string): readonly IbanProblem[] {
  if (/[^A-Z0-9]/.test(iban)) return ['ILLEGAL_CHARACTERS'];
  const format = findCountryFormat(iban.slice(0, 2));
  if (format === null) return ['UNKNOWN_COUNTRY'];

  const checkDigits = iban.slice(2, 4);
  const isCheckable = /^\d\d$/.test(checkDigits);
  const problems: IbanProblem[] = [];
  if (iban.length !== format.length) problems.push('WRONG_LENGTH');
  else if (!format.regex.test(iban)) problems.push('WRONG_STRUCTURE');
  // 00, 01 and 99 leave the same remainders as 97, 98 and 02, so mod 97 alone lets them pass.
  if (isCheckable && ['00', '01', '99'].includes(checkDigits)) problems.push('CHECK_DIGITS_OUT_OF_RANGE');
  if (isCheckable && mod97(iban.slice(4) + iban.slice(0, 4)) !== 1) problems.push('WRONG_CHECK_DIGITS');
  return problems;
}

/** Whether a compacted IBAN is valid as far as its country's format and its check digits can tell. */
export function isValidIban(iban: string): boolean {
  return findIbanProblems(iban).length === 0;
}

/** The parts of a compacted IBAN, whether or not its check digits are right; null where its structure is wrong. */
export function parseIban(iban: string): IbanParts | null {
  const format = findCountryFormat(iban.slice(0, 2));
  if (format === null || /[^A-Z0-9]/.test(iban) || !format.regex.test(iban)) return null;
  const bban = iban.slice(4);
  return {
    countryCode: format.country,
    checkDigits: iban.slice(2, 4),
    bban,
    bankCode: cut(bban, format.bankCode),
    branch: format.branch && cut(bban, format.branch),
    accountNumber: cut(bban, accountSpan(format)),
    nationalCheckDigits: format.nationalCheckDigits && cut(bban, format.nationalCheckDigits),
    bbanRemainder: bban.slice((format.branch ?? format.bankCode).last),
  };
}

const decoration = /[\s\p{Dash_Punctuation}\p{Default_Ignorable_Code_Point}]+/gu;

function cut(bban: string, { first, last }: Span): string {
  return bban.slice(first - 1, last);
}

/** National check digits stand before the account (ES), behind it (FR) or in front of the bank code (IT). */
function accountSpan({ length, account, bankCode, branch, nationalCheckDigits }: CountryFormat): Span {
  if (account) return account;
  const first = (branch ?? bankCode).last + 1;
  const last = length - 4;
  if (nationalCheckDigits?.first === first) return { first: nationalCheckDigits.last + 1, last };
  if (nationalCheckDigits?.last === last) return { first, last: nationalCheckDigits.first - 1 };
  return { first, last };
}
