import type { IbanProblem } from './iban.ts';
import { findCountryFormat } from './registry.ts';

/**
 * Describes a problem of this compacted IBAN in one sentence. It contains the country and the length, but never the
 * IBAN, which is personal data: such sentences end up in logs.
 */
export function describeIbanProblem(problem: IbanProblem, iban: string): string {
  const format = findCountryFormat(iban.slice(0, 2));
  const country = format?.country ?? 'that country';
  switch (problem) {
    case 'ILLEGAL_CHARACTERS':
      return 'An IBAN consists of the letters A to Z and the digits 0 to 9 only.';
    case 'UNKNOWN_COUNTRY':
      return 'An IBAN starts with the code of a country that has IBANs; this one does not.';
    case 'WRONG_LENGTH':
      return `An IBAN of ${country} has ${format?.length} characters; this one has ${iban.length}.`;
    case 'WRONG_STRUCTURE':
      return `An IBAN of ${country} has the format ${format?.format} (n: digits, a: letters, c: either); this one does not.`;
    case 'CHECK_DIGITS_OUT_OF_RANGE':
      return 'The check digits of an IBAN are between 02 and 98; these are not.';
    case 'WRONG_CHECK_DIGITS':
      return 'The check digits do not match the rest of the IBAN.';
  }
}
