import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compactIban, findIbanProblems, isValidIban, parseIban } from '../../src/iban/iban.ts';
import { calcCheckDigits } from '../../src/iban/mod97.ts';
import { type CountryFormat, countryFormats, findCountryFormat } from '../../src/iban/registry.ts';

const DIGITS = [...'0123456789'];
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const characters = new Map([
  ['n', DIGITS],
  ['a', letters],
  ['c', [...DIGITS, ...letters]],
]);

const anyFormat = fc.constantFrom(
  ...countryFormats().flatMap((format) => [format, ...format.territories.map(findCountryFormat)]),
);

/** Valid IBANs of every country and territory. */
const anyIban = anyFormat.chain((format) => {
  if (format === null) throw new Error('a territory without a format');
  return anyBban(format).map((bban) => format.country + calcCheckDigits(format.country, bban) + bban);
});

function anyBban({ format }: CountryFormat): fc.Arbitrary<string> {
  const segments = [...format.slice(4).matchAll(/(\d+)!([nac])/g)].map(([, count, kind = '']) =>
    fc.string({
      unit: fc.constantFrom(...(characters.get(kind) ?? [])),
      minLength: Number(count),
      maxLength: Number(count),
    }),
  );
  return fc.tuple(...segments).map((parts) => parts.join(''));
}

const isDigit = (character: string) => DIGITS.includes(character);
const at = (text: string, index: number) => text.charAt(index);

describe('for every country', () => {
  it('an IBAN with calculated check digits is valid and comes apart without loss', () => {
    fc.assert(
      fc.property(anyIban, (iban) => {
        expect(findIbanProblems(iban)).toEqual([]);
        const parts = parseIban(iban);
        expect(`${parts?.countryCode}${parts?.checkDigits}${parts?.bban}`).toBe(iban);
        expect(iban.endsWith(parts?.bbanRemainder ?? '?')).toBe(true);
        expect(parts?.bbanRemainder).toContain(parts?.accountNumber);
      }),
    );
  });

  // A letter for a digit moves every digit before it, and then one in 97 goes unnoticed where both are allowed.
  it('a digit for a digit or a letter for a letter never goes unnoticed', () => {
    fc.assert(
      fc.property(anyIban, fc.nat(), fc.nat(), (iban, position, choice) => {
        const index = 2 + (position % (iban.length - 2));
        const others = (isDigit(at(iban, index)) ? DIGITS : letters).filter((other) => other !== at(iban, index));
        const changed = iban.slice(0, index) + at(others.join(''), choice % others.length) + iban.slice(index + 1);
        expect(isValidIban(changed)).toBe(false);
      }),
    );
  });

  it('neighbours of one kind that change places never go unnoticed', () => {
    fc.assert(
      fc.property(anyIban, fc.nat(), (iban, position) => {
        const index = 4 + (position % (iban.length - 5));
        const [left, right] = [at(iban, index), at(iban, index + 1)];
        fc.pre(left !== right && isDigit(left) === isDigit(right));
        expect(isValidIban(iban.slice(0, index) + right + left + iban.slice(index + 2))).toBe(false);
      }),
    );
  });
});

describe('for any text', () => {
  it('compacting twice is compacting once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(compactIban(compactIban(text))).toBe(compactIban(text));
      }),
    );
  });

  it('judging and taking apart never throw, and agree', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[A-Z]{2}\d{2}[A-Z0-9]{0,30}$/),
      fc.tuple(anyIban, fc.string()).map(([iban, tail]) => iban + tail),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const problems = findIbanProblems(text);
        const hasParts = problems.every((problem) => problem.includes('CHECK_DIGITS'));
        expect(parseIban(text) !== null).toBe(hasParts);
      }),
    );
  });
});
