import fc from 'fast-check';
import { buildIban } from '../../src/iban/build-iban.ts';
import type { IbanParts } from '../../src/iban/iban.ts';
import { calcCheckDigits } from '../../src/iban/mod97.ts';
import { type CountryFormat, characterTypes, countryFormats, findCountryFormat } from '../../src/iban/registry.ts';

/** A German IBAN, different for every number. */
export function tIban(account: number): string {
  const result = buildIban({ country: 'DE', bankCode: '37040044', accountNumber: String(532_013_000 + account) });
  if (result.kind !== 'iban') throw new Error(JSON.stringify(result));
  return result.iban;
}

/** An IBAN with this bank code; all else is 0, or A where only letters are allowed, which national check digits need not match. */
export function ibanOfBank(country: string, bankCode: string): string {
  const format = findCountryFormat(country);
  if (format === null) throw new Error(`${country} has no IBANs`);
  const zeros = characterTypes(format.format).slice(2).replace(/a/g, 'A').replace(/[nc]/g, '0');
  const bban = zeros.slice(0, format.bankCode.first - 1) + bankCode + zeros.slice(format.bankCode.last);
  return country + calcCheckDigits(country, bban) + bban;
}

export const digits = [...'0123456789'];
export const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** Formats of every country and territory. */
export const allFormats: readonly CountryFormat[] = countryFormats().flatMap((format) => [
  format,
  ...format.territories.flatMap((code) => findCountryFormat(code) ?? []),
]);

const characters = new Map([
  ['n', digits],
  ['a', letters],
  ['c', [...digits, ...letters]],
]);

/** BBANs of the right structure, most of them with wrong national check digits. */
export function anyBban({ format }: CountryFormat): fc.Arbitrary<string> {
  const segments = [...format.slice(4).matchAll(/(\d+)!([nac])/g)].map(([, count, kind = '']) =>
    fc.string({
      unit: fc.constantFrom(...(characters.get(kind) ?? [])),
      minLength: Number(count),
      maxLength: Number(count),
    }),
  );
  return fc.tuple(...segments).map((parts) => parts.join(''));
}

/** Valid IBANs of every country and territory. */
export const anyIban = fc
  .constantFrom(...allFormats)
  .chain((format) => anyBban(format).map((bban) => format.country + calcCheckDigits(format.country, bban) + bban));

/** The account number that generates this IBAN: the rest of the BBAN without computed national check digits. */
export function accountNumberOf({ countryCode, bbanRemainder, nationalCheckDigits }: IbanParts): string {
  const length = nationalCheckDigits?.length ?? 0;
  if (countryCode === 'ES' || countryCode === 'AL') return bbanRemainder.slice(length);
  return withoutComputedDigits.has(countryCode) ? bbanRemainder : bbanRemainder.slice(0, bbanRemainder.length - length);
}

/** Check digits of an unknown rule (FO, GL, SE), in the bank code (PL) or before it (IT, SM): the account is whole. */
const withoutComputedDigits = new Set(['FO', 'GL', 'IT', 'PL', 'SE', 'SM']);
