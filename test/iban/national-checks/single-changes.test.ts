import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cin } from '../../../src/iban/national-checks/cin.ts';
import { cleRib } from '../../../src/iban/national-checks/cle-rib.ts';
import { czechia } from '../../../src/iban/national-checks/czechia.ts';
import type { NationalCheck } from '../../../src/iban/national-checks/national-check.ts';
import { spain } from '../../../src/iban/national-checks/spain.ts';
import { type CountryFormat, findCountryFormat } from '../../../src/iban/registry.ts';
import { anyBban, DIGITS, LETTERS } from '../any-iban.ts';

/*
 * What changing one character of a passing BBAN does, as far as it is mathematically true:
 * CZ  every weight of the prefix and the account is prime to 11, so no digit changes unnoticed; the bank is not guarded.
 * ES  likewise, but the check digit 1 stands for both 1 and 10, and then a change from the one to the other goes unnoticed.
 * FR  97 is prime, so no digit changes unnoticed; characters of the same value are the same to it.
 * IT  no two digits and no two letters count the same in any place; a digit and the letter of its rank do.
 */
function formatOf(country: string): CountryFormat {
  const format = findCountryFormat(country);
  if (format === null) throw new Error(`no format of ${country}`);
  return format;
}

function anyPassing(country: string, { complete }: NationalCheck): fc.Arbitrary<string> {
  return anyBban(formatOf(country)).map((bban) => complete?.(bban) ?? '');
}

/** The last digit of prefix and account has the weight 1; for one number in eleven it would have to be 10. */
const anyPassingCzech = fc
  .tuple(fc.stringMatching(/^\d{4}$/), fc.stringMatching(/^\d{5}$/), fc.stringMatching(/^\d{9}$/))
  .map(([bank, prefix, account]) => {
    const p = DIGITS.find((digit) => czechia.passes(`${bank}${prefix}${digit}0000000000`));
    const a = DIGITS.find((digit) => czechia.passes(`${bank}000000${account}${digit}`));
    return p && a ? bank + prefix + p + account + a : '';
  })
  .filter((bban) => bban !== '');

/** The text with one of its digits, or one of its letters, replaced by another of the kind. */
function change(text: string, position: number, choice: number): { changed: string; at: number } {
  const at = position % text.length;
  const own = text.charAt(at);
  const others = (DIGITS.includes(own) ? DIGITS : LETTERS).filter((other) => other !== own);
  return { at, changed: text.slice(0, at) + others[choice % others.length] + text.slice(at + 1) };
}

describe('CZ and SK', () => {
  it('notice every changed digit of prefix and account', () => {
    fc.assert(
      fc.property(anyPassingCzech, fc.nat(), fc.nat(), (bban, position, choice) => {
        expect(czechia.passes(bban)).toBe(true);
        expect(czechia.passes(bban.slice(0, 4) + change(bban.slice(4), position, choice).changed)).toBe(false);
      }),
    );
  });

  it('do not look at the bank', () => {
    fc.assert(
      fc.property(anyPassingCzech, fc.stringMatching(/^\d{4}$/), (bban, bank) => {
        expect(czechia.passes(bank + bban.slice(4))).toBe(true);
      }),
    );
  });
});

describe('ES', () => {
  it('notices every changed digit but where the check digit that guards it is 1', () => {
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

  it('cannot tell 10 from 1', () => {
    expect(spain.passes('21000418410600000000')).toBe(true);
    expect(spain.passes('21000418419600000000')).toBe(true);
  });
});

describe('FR and MC', () => {
  it('notice every changed digit', () => {
    fc.assert(
      fc.property(anyPassing('FR', cleRib), fc.nat(), fc.nat(), (bban, position, choice) => {
        expect(cleRib.passes(bban)).toBe(true);
        fc.pre(DIGITS.includes(bban.charAt(position % bban.length)));
        expect(cleRib.passes(change(bban, position, choice).changed)).toBe(false);
      }),
    );
  });

  it('cannot tell characters of the same value apart', () => {
    for (const letter of 'DMU4') expect(cleRib.passes(`20041010050500013${letter}02606`)).toBe(true);
  });
});

describe('IT and SM', () => {
  it('notice every digit changed to a digit and every letter to a letter', () => {
    fc.assert(
      fc.property(anyPassing('IT', cin), fc.nat(), fc.nat(), (bban, position, choice) => {
        expect(cin.passes(bban)).toBe(true);
        expect(cin.passes(change(bban, position, choice).changed)).toBe(false);
      }),
    );
  });

  it('cannot tell a digit from the letter of its rank', () => {
    expect(cin.passes('X0542811101000000123456')).toBe(true);
    expect(cin.passes('X05428111010000001234FG')).toBe(true);
  });
});
