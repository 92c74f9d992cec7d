import { calcCheckDigits } from '../../../src/iban/mod97.ts';
import { characterTypes, findCountryFormat } from '../../../src/iban/registry.ts';

/** An IBAN with this bank code; all else is 0, or A where only letters are allowed, which national check digits need not match. */
export function ibanOfBank(country: string, bankCode: string): string {
  const format = findCountryFormat(country);
  if (format === null) throw new Error(`${country} has no IBANs`);
  const zeros = characterTypes(format.format).slice(2).replace(/a/g, 'A').replace(/[nc]/g, '0');
  const bban = zeros.slice(0, format.bankCode.first - 1) + bankCode + zeros.slice(format.bankCode.last);
  return country + calcCheckDigits(country, bban) + bban;
}
