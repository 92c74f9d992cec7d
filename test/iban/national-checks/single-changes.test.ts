import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cin } from '../../../src/iban/national-checks/cin.ts';
import { cleRib } from '../../../src/iban/national-checks/cle-rib.ts';
import { czechia } from '../../../src/iban/national-checks/czechia.ts';
import type { NationalCheck } from '../../../src/iban/national-checks/national-check.ts';
import { spain } from '../../../src/iban/national-checks/spain.ts';
import { type CountryFormat, findCountryFormat } from '../../../src/iban/registry.ts';
import { anyBban, digits, letters } from '../../support/iban/any-iban.ts';

/*
 * Which changes of one character are detected:
 * CZ  all digits of prefix and account, as all weights are coprime to 11; the bank code is not checked.
 * ES  likewise, but the check digit 1 means both 1 and 10, so that changes between them are not detected.
 * FR  all digits, as 97 is prime; characters with the same value are not distinguished.
 * IT  a digit changed to a digit and a letter to a letter; a digit and the letter of its rank are not distinguished.
 */
function formatOf(country: string): CountryFormat {
  const format = findCountryFormat(country);
  if (format === null) throw new Error(`no format of ${country}`);
  return format;
}

function anyPassing(country: string, { complete }: NationalCheck): fc.Arbitrary<string> {
  return anyBban(formatOf(country)).map((bban) => complete?.(bban) ?? '');
}

/** The last digit of prefix and account has the weight 1; one number in eleven is excluded, as it would have to be 10. */
const anyPassingCzech = fc
  .tuple(fc.stringMatching(/^\d{4}$/), fc.stringMatching(/^\d{5}$/), fc.stringMatching(/^\d{9}$/))
  .map(([bank, prefix, account]) => {
    const p = digits.find((digit) => czechia.passes(`${bank}${prefix}${digit}0000000000`));
    const a = digits.find((digit) => czechia.passes(`${bank}000000${account}${digit}`));
    return p && a ? bank + prefix + p + account + a : '';
  })
  .filter((bban) => bban !== '');

/** The text with one of its digits, or one of its letters, replaced by another of the same type. */
function change(text: string, position: number, choice: number): { changed: string; at: number } {
  const at = position % text.length;
  const own = text.charAt(at);
  const others = (digits.includes(own) ? digits : letters).filter((other) => other !== own);
  return { at, changed: text.slice(0, at) + others[choice % others.length] + text.slice(at + 1) };
}

describe('CZ and SK', () => {
  it('detect every changed digit of prefix and account', () => {
    fc.assert(
      fc.property(anyPassingCzech, fc.nat(), fc.nat(), (bban, position, choice) => {
        expect(czechia.passes(bban)).toBe(true);
        expect(czechia.passes(bban.slice(0, 4) + change(bban.slice(4), position, choice).changed)).toBe(false);
      }),
    );
  });

  it('do not check the bank code', () => {
    fc.assert(
      fc.property(anyPassingCzech, fc.stringMatching(/^\d{4}$/), (bban, bank) => {
        expect(czechia.passes(bank + bban.slice(4))).toBe(true);
      }),
    );
  });
});

describe('ES', () => {
  it('detects every changed digit unless its check digit is 1', () => {
    fc.assert(
      fc.property(anyPassing('ES', spain), fc.nat(), fc.nat(), (bban, position, choice) => {
        expect(spain.passes(bban)).toBe(true);
        const { changed, at } = change(bban, position, choice);
        const isCheckDigit = at === 8 || at === 9;
        fc.pre(isCheckDigit || bban.charAt(at < 8 ? 8 : 9) !== '1');
        expect(spain.passes(changed)).toBe(false);
      }),
    );
  });

  it('accepts 1 for 10', () => {
    expect(spain.passes('21000418410600000000')).toBe(true);
    expect(spain.passes('21000418419600000000')).toBe(true);
  });
});

describe('FR and MC', () => {
  it('detect every changed digit', () => {
    fc.assert(
      fc.property(anyPassing('FR', cleRib), fc.nat(), fc.nat(), (bban, position, choice) => {
        expect(cleRib.passes(bban)).toBe(true);
        fc.pre(digits.includes(bban.charAt(position % bban.length)));
        expect(cleRib.passes(change(bban, position, choice).changed)).toBe(false);
      }),
    );
  });

  it('do not distinguish characters of the same value', () => {
    for (const letter of 'DMU4') expect(cleRib.passes(`20041010050500013${letter}02606`)).toBe(true);
  });
});

describe('IT and SM', () => {
  it('detect every digit changed to a digit and every letter to a letter', () => {
    fc.assert(
      fc.property(anyPassing('IT', cin), fc.nat(), fc.nat(), (bban, position, choice) => {
        expect(cin.passes(bban)).toBe(true);
        expect(cin.passes(change(bban, position, choice).changed)).toBe(false);
      }),
    );
  });

  it('do not distinguish a digit from the letter of its rank', () => {
    expect(cin.passes('X0542811101000000123456')).toBe(true);
    expect(cin.passes('X05428111010000001234FG')).toBe(true);
  });
});
