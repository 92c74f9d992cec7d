import { countryCodes } from '../../countries/country-codes.ts';
import { calcCheckDigits } from '../../iban/mod97.ts';

/**
 * What is wrong with a SEPA creditor identifier, in one sentence that does not contain it; null if it is valid. Its fifth to seventh
 * character, the business code, are free, and not covered by the check digits.
 * @example
 * describeCreditorIdProblem('DE98ZZZ09999999999') // => null
 * describeCreditorIdProblem('DE97ZZZ09999999999') // => 'Its check digits do not match.'
 */
export function describeCreditorIdProblem(id: string): string | null {
  const [, country = '', checkDigits, national = ''] = /^([A-Z]{2})(\d\d)[A-Z0-9]{3}(\S{1,28})$/.exec(id) ?? [];
  if (national === '') {
    return 'It must be a country code, two check digits, three letters or digits, and the national identifier of at most 28.';
  }
  if (!countryCodes.has(country)) return 'It must begin with a country code of ISO 3166-1.';
  const covered = national.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  return calcCheckDigits(country, covered) === checkDigits ? null : 'Its check digits do not match.';
}
