import type { IbanProblem } from './iban.ts';
import { findCountryFormat } from './registry.ts';

/**
 * One English sentence on a problem that `validateIban` found in this compacted IBAN. It tells the country and the
 * number of characters and never the IBAN: an IBAN is personal data, and sentences end up in logs.
 */
export function describeIbanProblem(problem: IbanProblem, iban: string): string {
  const format = findCountryFormat(iban.slice(0, 2));
  const country = format?.country ?? 'that country';
  switch (problem) {
    case 'ILLEGAL_CHARACTERS':
      return 'An IBAN consists of the letters A to Z and the digits 0 to 9 only.';
    case 'UNKNOWN_COUNTRY':
      return 'An IBAN begins with the code of a country that has IBANs; this one does not.';
    case 'WRONG_LENGTH':
      return `An IBAN of ${country} has ${format?.length} characters; this one has ${iban.length}.`;
    case 'WRONG_STRUCTURE':
      return `An IBAN of ${country} is built as ${format?.format} (n: digits, a: letters, c: either); this one is not.`;
    case 'CHECK_DIGITS_OUT_OF_RANGE':
      return 'The check digits of an IBAN go from 02 to 98; these do not.';
    case 'WRONG_CHECK_DIGITS':
      return 'The check digits do not match the rest of the IBAN.';
  }
}
