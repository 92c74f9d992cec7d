import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNationalCheck, findWrongCheckDigits, nationalCheck } from '../../src/iban/national-checks.ts';
import { countryFormats, findCountryFormat } from '../../src/iban/registry.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };
import { allFormats, anyBban, anyIban, digits } from '../support/ibans.ts';
import { anyCharacter, rounds } from '../support/random.ts';

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
    expect(countries).toBe('AL BA BE BI CZ DJ EE ES FI FR HR HU IT MC ME MK MR NL NO PL PT RS RU SI SK SM ST TL TN XK');
  });

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
    ['a country outside the registry whose rule is unknown', 'IR710570029971601460641001'],
    ['a number of AO that is too short', 'AO0600060000010003713117'],
    ['an IBAN that is too short', 'ES912100041845020005133'],
    ['an IBAN with a letter among digits', 'ES912100041845020005133X'],
    ['an IBAN that is not compacted', 'ES91 2100 0418 4502 0005 1332'],
    ['bank 908 of RS', 'RS23908000000000000000'],
    ['an account of RU with a letter', 'RU2504452522540817A10538091310419'],
    ['an account at the Bank of Russia, where another rule holds', 'RU1004452500040817810538091310419'],
    ['an account of DE whose method is not given', 'DE89370400440532013000'],
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

describe('calc', () => {
  const checked = countryFormats().filter(({ country }) => findNationalCheck(country));

  it.each(checked)('computes the only check digits with which an account of $country passes', (format) => {
    const { passes, complete } = checkOf(format.country);
    // The rule of RU does not cover letters.
    const anyChecked = format.country === 'RU' ? fc.stringMatching(/^\d{29}$/) : anyBban(format);
    fc.assert(
      fc.property(anyChecked, (bban) => {
        const completed = complete(bban);
        fc.pre(completed !== null);
        expect(passes(completed)).toBe(true);
        expect(complete(completed)).toBe(completed);
        expect(passes(bban)).toBe(bban === completed);
      }),
    );
  });

  it.each(checked)('computes the check digits of $country where the registry has them', (format) => {
    const positions = findNationalCheck(format.country)?.groups.map(({ first, last }) => ({ first, last }));
    if (format.nationalCheckDigits) expect(positions).toContainEqual(format.nationalCheckDigits);
    for (const { first, last, calc } of findNationalCheck(format.country)?.groups ?? []) {
      const bban = format.example.slice(4);
      const blank = bban.slice(0, first - 1) + '0'.repeat(last - first + 1) + bban.slice(last);
      expect(calc(blank)).toBe(bban.slice(first - 1, last));
    }
  });
});

/*
 * One row per national check that has a published example; the failing IBANs have the right check digits of the IBAN.
 */
describe('the checks of AL, BI, RU, SI and ST', () => {
  // The check digit of AL covers bank and branch, that of RU all but the first six digits of the bank code.
  it.each([
    ['AL47212110090000000235698741', 1, 8],
    ['AL05213110130000000000841537', 1, 8],
    ['BI4210000100010000332045181', 1, 23],
    ['ST23000100010051845310146', 1, 21],
    ['ST23000200000289355710148', 1, 21],
    ['RU0304452522540817810538091310419', 7, 29],
    ['SI56010000000100090', 1, 15],
    ['SI56011008450021464', 1, 15],
  ])('%s fails in each position from %d to %d where the digit is another', (example, first, last) => {
    const bban = example.slice(4);
    expect(nationalCheck(example)).toBe('PASSED');
    for (let at = first - 1; at < last; at += 1) {
      for (const digit of digits.filter((one) => one !== bban[at])) {
        const other = bban.slice(0, at) + digit + bban.slice(at + 1);
        const isOtherRule = example.startsWith('RU') && /^.{6}0[0-4]/.test(other);
        expect(nationalCheck(example.slice(0, 4) + other)).toBe(isOtherRule ? 'NOT_APPLICABLE' : 'FAILED');
      }
    }
  });
});

describe('countries outside the registry', () => {
  /** Published examples, two where the older bank codes have one letter instead of two. */
  it.each([
    ...'AO06004400006729503010102 AO06000600000100037131174 CV64000500000020108215144 MZ59000301080016367102371'.split(
      ' ',
    ),
    ...'CF4220001000010120069700160 CG3930011000101013451300019 CM2110002000300277976315008'.split(' '),
    ...'GA2140021010032001890020126 GQ7050002001003715228190196 KM4600005000010010904400137'.split(' '),
    ...'MG4600005030010101914016056 TD8960002000010271091600153 MA64011519000001205000534921'.split(' '),
    ...'BF42BF0840101300463574000390 BJ66BJ0610100100144390000769 BJ11B00610100400271101192591'.split(' '),
    ...'CI93CI0080111301134291200589 CI05A00060174100178530011852 ML13ML0160120102600100668497'.split(' '),
    ...'NE58NE0380100100130305000268 SN08SN0100152000048500003035 TG53TG0090604310346500400070'.split(' '),
  ])('%s passes, and fails in each position where the digit is another', (iban) => {
    expect(nationalCheck(iban)).toBe('PASSED');
    for (let at = 4; at < iban.length; at += 1) {
      if (!digits.includes(iban.charAt(at))) continue;
      for (const digit of digits.filter((one) => one !== iban[at])) {
        expect(nationalCheck(iban.slice(0, at) + digit + iban.slice(at + 1))).toBe('FAILED');
      }
    }
  });

  it.each(['GW04GW1430010181800637601', 'DZ580002100001113000000570', 'IR710570029971601460641001'])(
    '%s is not checked: no rule is known',
    (iban) => {
      expect(nationalCheck(iban)).toBe('NOT_APPLICABLE');
    },
  );
});

describe('for any text', () => {
  it('a national check is never an error', () => {
    const anyMethod = fc.option(fc.stringMatching(/^\d\d$/));
    const anyText = fc.oneof(
      anyIban,
      fc.stringMatching(/^(AL|AO|BI|BJ|DE|RU|ST)\d{2}[A-Z0-9]{0,30}$/),
      fc.stringMatching(/^(CG23\d{23}|MA23\d{24}|RU23\d{29}|DE23\d{18})$/),
      fc.string({ unit: anyCharacter }),
    );
    fc.assert(
      fc.property(anyText, anyMethod, (text, germanMethod) => {
        expect(['PASSED', 'FAILED', 'NOT_APPLICABLE']).toContain(nationalCheck(text, { germanMethod }));
      }),
      { numRuns: rounds(200) },
    );
  });
});

describe('a German account', () => {
  it.each<[string, string | null | undefined, string]>([
    ['DE89370400440532013000', '13', 'PASSED'],
    ['DE62370400440532014000', '13', 'FAILED'],
    ['DE89370400440532013000', '09', 'NOT_APPLICABLE'],
    ['DE89370400440532013000', 'B8', 'NOT_APPLICABLE'],
    ['DE89370400440532013000', null, 'NOT_APPLICABLE'],
    ['DE8937040044053201300', '13', 'NOT_APPLICABLE'],
    // The method is that of a bank of DE.
    ['ES9121000418450200051332', '13', 'PASSED'],
  ])('%s by method %s: %s', (iban, germanMethod, result) => {
    expect(nationalCheck(iban, { germanMethod })).toBe(result);
  });
});

describe('the special cases of national checks', () => {
  it.each([
    ['BE writes a remainder of 0 as 97', 'BE', '000000009700', '000000009797'],
    ['FR has keys from 01 to 97', 'FR', '00000000000000000000000', '00000000000000000000097'],
    ['ISO 7064 has check digits from 02 to 98', 'BA', '0000000000000000', '0000000000000098'],
    // 98 - 25011000005898 * 100 mod 97, as A is 10.
    ['ISO 7064 counts letters as two digits', 'MK', '2501A0000589800', '2501A0000589836'],
    ['ES writes 10 as 1', 'ES', '21000418000600000000', '21000418410600000000'],
    ['ES writes 11 as 0', 'ES', '21000418000000000000', '21000418400000000000'],
    ['HU completes the digits of bank and account', 'HU', '117730101111101800000009', '117730161111101800000000'],
    [
      'RU computes the ninth digit of the account',
      'RU',
      '04452522540817810038091310419',
      '04452522540817810538091310419',
    ],
    ['NO has no numbers whose check digit would be 10', 'NO', '86011117050', null],
    ['NO checks only the four digits after account group 00', 'NO', '86010011790', '86010011797'],
    ['NO checks them for any bank', 'NO', '12340011790', '12340011797'],
  ])('%s', (_, country, bban, completed) => {
    expect(checkOf(country).complete(bban)).toBe(completed);
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
    const keyOf = (account: string) => checkOf('FR').complete(`20041010050500013${account}026??`)?.slice(-2);
    const groups = ['1AJ', '2BKS', '3CLT', '4DMU', '5ENV', '6FOW', '7GPX', '8HQY', '9IRZ'];
    for (const group of groups) expect(new Set([...group].map(keyOf)).size).toBe(1);
    expect(new Set([...'0123456789'].map(keyOf)).size).toBe(10);
  });
});

describe('single changes', () => {
  it.each([
    ['IT allows letters in the account, in odd and even places', 'IT', ['K4348207900DNNDKPHAGTIB']],
    ['ES accepts 1 for 10', 'ES', ['21000418410600000000', '21000418419600000000']],
    ['FR accepts letters for digits', 'FR', [...'DMU4'].map((one) => `20041010050500013${one}02606`)],
    ['IT accepts letters for digits', 'IT', ['X0542811101000000123456', 'X05428111010000001234FG']],
  ])('%s', (_, country, bbans) => {
    for (const bban of bbans) expect(checkOf(country).passes(bban)).toBe(true);
  });
});

/** Whether the check digits of a BBAN are right, and the BBAN with the right ones; null if there are none. */
function checkOf(country: string) {
  const check = findNationalCheck(country);
  if (check === null) throw new Error(`no check of ${country}`);
  return {
    passes: (bban: string) => findWrongCheckDigits(check, bban).length === 0,
    complete(bban: string): string | null {
      let completed = bban;
      for (const { first, last, calc } of check.groups) {
        const right = calc(completed);
        if (right === null) return null;
        completed = completed.slice(0, first - 1) + right + completed.slice(last);
      }
      return completed;
    },
  };
}
