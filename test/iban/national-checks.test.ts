import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isValidIban } from '../../src/iban/iban.ts';
import { calcCheckDigits } from '../../src/iban/mod97.ts';
import { findNationalCheck, type NationalCheck, nationalCheck } from '../../src/iban/national-checks.ts';
import { type CountryFormat, countryFormats, findCountryFormat } from '../../src/iban/registry.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };
import { allFormats, anyBban, digits, letters } from '../support/iban/any-iban.ts';

/**
 * Test cases of libraries that check only the check digits of the IBAN: their accounts and national check digits are
 * fictitious. The one of IT is the example of the registry with another CIN. All registry examples pass.
 */
const publishedButFailing = [
  'AX7898765400020335',
  'TN6199977105796904072050',
  'BA590483797190961278',
  'MC9320052222100112233M44555',
  'EE803801541625441184',
  'IT40S0542811101000000123456',
];

const published = vectors.valid.map(({ iban }) => iban).filter((iban) => findCountryFormat(iban.slice(0, 2)));

describe('published IBANs', () => {
  it.each(countryFormats())('the example of $country passes if there is a check', ({ country, example }) => {
    expect(nationalCheck(example)).toBe(findNationalCheck(country) ? 'PASSED' : 'NOT_APPLICABLE');
  });

  it('pass or are not checked, except for known cases', () => {
    expect(published.filter((iban) => nationalCheck(iban) === 'FAILED')).toEqual(publishedButFailing);
  });

  it.each(vectors.invalid.filter(({ reason }) => reason === 'national_check'))('$iban fails', ({ iban }) => {
    expect(nationalCheck(iban)).toBe('FAILED');
  });
});

describe('the check of each country', () => {
  const checked = countryFormats().filter(({ country }) => findNationalCheck(country));

  it('exists for these countries', () => {
    const countries = checked.map(({ country }) => country).join(' ');
    expect(countries).toBe('BA BE CZ DJ EE ES FI FR HR HU IT MC ME MK MR NL NO PL PT RS SI SK SM TL TN XK');
  });

  it.each(checked)(
    'fails for changes of one digit of $country, although the IBANs are valid',
    ({ country, example }) => {
      const bban = example.slice(4);
      const changed = [...bban].flatMap((digit, at) => {
        if (!digits.includes(digit)) return [];
        const other = bban.slice(0, at) + ((Number(digit) + 1) % 10) + bban.slice(at + 1);
        return [country + calcCheckDigits(country, other) + other];
      });
      expect(changed.filter((iban) => !isValidIban(iban))).toEqual([]);
      expect(changed.filter((iban) => nationalCheck(iban) === 'FAILED').length).toBeGreaterThanOrEqual(8);
    },
  );

  it.each([
    ['the account of HU', 'HU15117730161111101800000001'],
    ['the bank code of HR', 'HR4710010061863000160'],
    ['the account of HR', 'HR8210010051863000161'],
    ['eight digits of an account of NL', 'NL71INGB0012345678'],
  ])('also fails where only %s is wrong', (_, iban) => {
    expect(nationalCheck(iban)).toBe('FAILED');
  });

  it.each(allFormats.filter(({ parent }) => parent && findNationalCheck(parent)))(
    'is the same for $country and $parent',
    ({ country, parent, example }) => {
      expect(findNationalCheck(country)).toBe(findNationalCheck(parent ?? ''));
      expect(nationalCheck(example)).toBe('PASSED');
    },
  );
});

describe('nothing is checked', () => {
  it.each([
    ['a country without a check', 'DE89370400440532013000'],
    ['a territory whose parent has none', 'IM20HBUK40127612345678'],
    ['a country outside the registry, though it has a clé RIB', 'CG3930011000101013451300019'],
    ['an IBAN that is too short', 'ES912100041845020005133'],
    ['an IBAN with a letter among digits', 'ES912100041845020005133X'],
    ['an IBAN that is not compacted', 'ES91 2100 0418 4502 0005 1332'],
    ['bank 908 of RS', 'RS23908000000000000000'],
    ['bank 01 of SI', 'SI95011006000000000'],
    ['a former Postbank number of NL', 'NL08INGB0000000555'],
    ['seven digits of an account of NL', 'NL20INGB0001234567'],
    ['account group 00 of NO, where the rules differ', 'NO2186010011794'],
    ['an empty text', ''],
  ])('for %s', (_, iban) => {
    expect(nationalCheck(iban)).toBe('NOT_APPLICABLE');
  });

  it('does not depend on the check digits of the IBAN itself', () => {
    expect(nationalCheck('ES0021000418450200051332')).toBe('PASSED');
  });
});

describe('complete', () => {
  const completing = countryFormats().filter(({ country }) => findNationalCheck(country)?.complete);

  it.each(completing.filter(({ country }) => country !== 'HU'))(
    'computes the only check digits with which an account of $country passes',
    (format) => {
      const check = findNationalCheck(format.country);
      fc.assert(
        fc.property(anyBban(format), (bban) => {
          const completed = check?.complete?.(bban) ?? null;
          fc.pre(completed !== null);
          expect(check?.passes(completed)).toBe(true);
          expect(check?.complete?.(completed)).toBe(completed);
          expect(check?.passes(bban)).toBe(bban === completed);
        }),
      );
    },
  );

  it.each(completing)('changes only the check digits of $country', ({ country, example, nationalCheckDigits }) => {
    const bban = example.slice(4);
    // The registry does not list the check digits of XK; they are the last two.
    const { first, last } = nationalCheckDigits ?? { first: bban.length - 1, last: bban.length };
    const blank = bban.slice(0, first - 1) + '0'.repeat(last - first + 1) + bban.slice(last);
    expect(findNationalCheck(country)?.complete?.(blank)).toBe(bban);
  });
});

describe('the special cases of national checks', () => {
  it.each([
    ['BE writes a remainder of 0 as 97', 'BE', '000000009700', '000000009797'],
    ['FR has keys from 01 to 97', 'FR', '00000000000000000000000', '00000000000000000000097'],
    ['ISO 7064 has check digits from 02 to 98', 'BA', '0000000000000000', '0000000000000098'],
    // 98 - 25011000005898 * 100 mod 97, as A is 10.
    ['ISO 7064 counts letters as two digits', 'BA', '2501A0000589800', '2501A0000589836'],
    ['ES writes 10 as 1', 'ES', '21000418000600000000', '21000418410600000000'],
    ['ES writes 11 as 0', 'ES', '21000418000000000000', '21000418400000000000'],
    ['HU completes only the last digit', 'HU', '117730171111101800000009', '117730171111101800000000'],
    ['NO has no numbers whose check digit would be 10', 'NO', '86011117050', null],
    ['NO checks only the four digits after account group 00', 'NO', '86010011790', '86010011797'],
    ['NO checks them for any bank', 'NO', '12340011790', '12340011797'],
  ])('%s', (_, country, bban, completed) => {
    expect(checkOf(country).complete?.(bban)).toBe(completed);
  });

  it.each([
    ['BE', '000000009700'],
    ['FR', '00000000000000000000000'],
    // Another check number with the same remainder.
    ['BA', '0000000000000001'],
    ['IT', 'K4348207900DNDNKPHAGTIB'],
    ['HU', '117730171111101800000000'],
    ...[...digits].map((digit) => ['NO', `8601111705${digit}`]),
  ])('%s rejects %s', (country, bban) => {
    expect(checkOf(country).passes(bban)).toBe(false);
  });

  it('FR counts letters as digits: A to I and J to R from 1, S to Z from 2', () => {
    const keyOf = (account: string) => checkOf('FR').complete?.(`20041010050500013${account}026??`)?.slice(-2);
    const groups = ['1AJ', '2BKS', '3CLT', '4DMU', '5ENV', '6FOW', '7GPX', '8HQY', '9IRZ'];
    for (const group of groups) expect(new Set([...group].map(keyOf)).size).toBe(1);
    expect(new Set([...'0123456789'].map(keyOf)).size).toBe(10);
  });
});

/*
 * Which changes of one character are detected:
 * CZ  all digits of prefix and account, as all weights are coprime to 11; the bank code is not checked.
 * ES  likewise, but the check digit 1 means both 1 and 10, so that changes between them are not detected.
 * FR  all digits, as 97 is prime; characters with the same value are not distinguished.
 * IT  a digit changed to a digit and a letter to a letter; a digit and the letter of its rank are not distinguished.
 */
describe('single changes', () => {
  const anyCompleted = (country: string) =>
    anyBban(findCountryFormat(country) as CountryFormat).map((bban) => checkOf(country).complete?.(bban) ?? '');

  /** The last digit of prefix and account has the weight 1; one number in eleven is excluded, as it would have to be 10. */
  const anyPassingCzech = fc
    .tuple(fc.stringMatching(/^\d{4}$/), fc.stringMatching(/^\d{5}$/), fc.stringMatching(/^\d{9}$/))
    .map(([bank, prefix, account]) => {
      const p = digits.find((digit) => checkOf('CZ').passes(`${bank}${prefix}${digit}0000000000`));
      const a = digits.find((digit) => checkOf('CZ').passes(`${bank}000000${account}${digit}`));
      return p && a ? bank + prefix + p + account + a : '';
    })
    .filter((bban) => bban !== '');

  /** The text with one of its digits, or one of its letters, replaced by another of the same type. */
  function change(text: string, at: number, choice: number): string {
    const own = text.charAt(at);
    const others = (digits.includes(own) ? digits : letters).filter((other) => other !== own);
    return text.slice(0, at) + others[choice % others.length] + text.slice(at + 1);
  }

  it.each<[string, string, fc.Arbitrary<string>, (bban: string, at: number) => boolean]>([
    ['CZ', 'digit of prefix and account', anyPassingCzech, (_, at) => at >= 4],
    [
      'ES',
      'digit unless its check digit is 1',
      anyCompleted('ES'),
      (bban, at) => at === 8 || at === 9 || bban.charAt(at < 8 ? 8 : 9) !== '1',
    ],
    ['FR', 'digit', anyCompleted('FR'), (bban, at) => digits.includes(bban.charAt(at))],
    ['IT', 'digit changed to a digit and every letter to a letter', anyCompleted('IT'), () => true],
  ])('%s detects every changed %s', (country, _, anyPassing, isDetected) => {
    const { passes } = checkOf(country);
    fc.assert(
      fc.property(anyPassing, fc.nat(), fc.nat(), (bban, position, choice) => {
        expect(passes(bban)).toBe(true);
        const at = position % bban.length;
        fc.pre(isDetected(bban, at));
        expect(passes(change(bban, at, choice))).toBe(false);
      }),
    );
  });

  it('CZ does not check the bank code', () => {
    fc.assert(
      fc.property(anyPassingCzech, fc.stringMatching(/^\d{4}$/), (bban, bank) => {
        expect(checkOf('CZ').passes(bank + bban.slice(4))).toBe(true);
      }),
    );
  });

  it.each([
    ['IT allows letters in the account, in odd and even places', 'IT', ['K4348207900DNNDKPHAGTIB']],
    ['ES accepts 1 for 10', 'ES', ['21000418410600000000', '21000418419600000000']],
    ['FR accepts letters for digits', 'FR', [...'DMU4'].map((one) => `20041010050500013${one}02606`)],
    ['IT accepts letters for digits', 'IT', ['X0542811101000000123456', 'X05428111010000001234FG']],
  ])('%s', (_, country, bbans) => {
    for (const bban of bbans) expect(checkOf(country).passes(bban)).toBe(true);
  });
});

function checkOf(country: string): NationalCheck {
  const check = findNationalCheck(country);
  if (check === null) throw new Error(`no check of ${country}`);
  return check;
}
