import { calcCheckDigits } from '../../../src/iban/mod97.ts';
import { findCountryFormat } from '../../../src/iban/registry.ts';

/** An IBAN with this bank code; all other digits of its account are zeros, which national check digits need not match. */
export function ibanOfBank(country: string, bankCode: string): string {
  const format = findCountryFormat(country);
  if (format === null) throw new Error(`${country} has no IBANs`);
  const zeros = '0'.repeat(format.length - 4);
  const bban = zeros.slice(0, format.bankCode.first - 1) + bankCode + zeros.slice(format.bankCode.last);
  return country + calcCheckDigits(country, bban) + bban;
}
