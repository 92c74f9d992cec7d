import fc from 'fast-check';
import { calcCheckDigits } from '../../src/iban/mod97.ts';
import { type CountryFormat, countryFormats, findCountryFormat } from '../../src/iban/registry.ts';

export const DIGITS = [...'0123456789'];
export const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** Formats of every country and territory. */
export const allFormats: readonly CountryFormat[] = countryFormats().flatMap((format) => [
  format,
  ...format.territories.flatMap((code) => findCountryFormat(code) ?? []),
]);

const characters = new Map([
  ['n', DIGITS],
  ['a', LETTERS],
  ['c', [...DIGITS, ...LETTERS]],
]);

/** BBANs of the right structure, whose national check DIGITS are wrong more often than not. */
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
