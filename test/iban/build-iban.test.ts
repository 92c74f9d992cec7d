import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBankLists } from '../../src/banks/bank-lists.ts';
import { createKnownBanks } from '../../src/banks/known-banks.ts';
import { buildIban, type IbanFieldValues } from '../../src/iban/build-iban.ts';
import { findIbanProblems, type IbanParts, parseIban } from '../../src/iban/iban.ts';
import { ibanFields } from '../../src/iban/iban-fields.ts';
import { calcCheckDigits } from '../../src/iban/mod97.ts';
import { findNationalCheck, findWrongCheckDigits, nationalCheck } from '../../src/iban/national-checks.ts';
import { countryFormats, findCountryFormat } from '../../src/iban/registry.ts';
import { accountNumberOf, allFormats, anyIban } from '../support/ibans.ts';
import { anyCharacter, rounds } from '../support/random.ts';

/** The fields that generate an IBAN of the right structure. */
function fieldsOf(iban: string): IbanFieldValues {
  const parts = parseIban(iban);
  if (parts === null) throw new Error('an IBAN of the wrong structure');
  const { countryCode: country, bankCode, branch } = parts;
  return { country, bankCode, branch, accountNumber: accountNumberOf(parts) };
}

describe('every country', () => {
  // No exceptions: every published example that has a national check satisfies it.
  it.each(countryFormats())('generates the example of $country from its own parts', ({ example }) => {
    const fields = fieldsOf(example);
    expect(buildIban(fields)).toMatchObject({
      kind: 'iban',
      iban: example,
      fields: { accountNumber: fields.accountNumber },
    });
  });

  it('generates only valid IBANs with the given fields, which pass national checks', () => {
    fc.assert(
      fc.property(anyIban, (other) => {
        const fields = fieldsOf(other);
        const generated = buildIban(fields);
        if (generated.kind === 'invalid') {
          for (const { field, message } of generated.problems) {
            if (field !== 'country') expect(message).toContain('check digit');
          }
          for (const iban of generated.suggestions) expect(nationalCheck(iban)).not.toBe('FAILED');
          return;
        }
        expect(findIbanProblems(generated.iban)).toEqual([]);
        expect(fieldsOf(generated.iban)).toEqual(fields);
        expect(nationalCheck(generated.iban)).not.toBe('FAILED');
      }),
      { numRuns: rounds(200) },
    );
  });

  it('never throws', () => {
    const anyText = fc.option(fc.oneof(fc.string({ unit: anyCharacter }), fc.stringMatching(/^[A-Z0-9]{0,20}$/)));
    const anyCountry = fc.oneof(fc.constantFrom(...allFormats.map(({ country }) => country)), fc.string());
    fc.assert(
      fc.property(anyCountry, anyText, anyText, anyText, (country, bankCode, branch, accountNumber) => {
        const generated = buildIban({ country, bankCode, branch, accountNumber });
        if (generated.kind === 'iban') expect(findIbanProblems(generated.iban)).toEqual([]);
        else
          for (const { message } of generated.problems)
            expect(message).toMatch(/^The (country|bank code|branch|account number) (has|is|cannot|ends|begins) .*\.$/);
      }),
    );
  });
});

/** Country, bank code, branch and account number. */
type Values = readonly (string | null)[];

function build([country, bankCode, branch, accountNumber]: Values) {
  return buildIban({ country: country ?? '', bankCode, branch, accountNumber });
}

describe('buildIban', () => {
  it.each<[string, Values, string]>([
    ['spaces, hyphens and small letters', ['de', '370 400 44', null, '0532-013-000'], 'DE89370400440532013000'],
    ['a prefix without its leading zeros', ['CZ', '0800', '19', '2000145399'], 'CZ6508000000192000145399'],
    ['points, as in Norway and the Netherlands', ['NL', 'ABNA', null, '41.71.64.300'], 'NL91ABNA0417164300'],
    ['an account number with letters', ['FR', '20041', '01005', '500013M026'], 'FR1420041010050500013M02606'],
    ['a prefix before the account number', ['CZ', '0800', null, '19-2000145399'], 'CZ6508000000192000145399'],
    ['a prefix that is the branch', ['SK', '1200', '000019', '19-8742637541'], 'SK3112000000198742637541'],
    ['an empty branch in a country without branches', ['NO', '8601', '', '111794'], 'NO9386011117947'],
    ['a null branch in a country without branches', ['BE', '539', null, '0075470'], 'BE68539007547034'],
    ['the type of account and its holder', ['BR', '00360305', '00001', '9795493C1'], 'BR1800360305000010009795493C1'],
  ])('accepts %s', (_, values, iban) => {
    expect(build(values)).toMatchObject({ kind: 'iban', iban });
  });
});

describe('an account number with the check digits that are computed', () => {
  it.each<[string, Values, string]>([
    ['BE', ['BE', '539', null, '007547035'], 'ends in check digits that do not match; they would be 34.'],
    ['NO', ['NO', '8601', null, '1117948'], 'ends in a check digit that does not match; it would be 7.'],
    ['ES', ['ES', '2100', '0418', '460200051332'], 'begins with check digits that do not match; they would be 45.'],
    ['AL', ['AL', '212', '1100', '80000000235698741'], 'begins with a check digit that does not match; it would be 9.'],
    [
      'NO, without a digit that is right',
      ['NO', '8601', null, '1117050'],
      'cannot exist in NO: its check digit would be 10.',
    ],
    [
      'NO, with a letter instead',
      ['NO', '8601', null, '001179O'],
      'has 7 characters, with letters where they are not allowed; an account number of NO has 6 digits, or 7 with its check digit.',
    ],
    [
      'BI, without the zeros at the beginning',
      ['BI', '10000', '10001', '332045181'],
      'has 9 characters; an account number of BI has 11 digits, or 13 with its check digits.',
    ],
    [
      'another bank',
      ['BE', '538', null, '539007547034'],
      'has 12 characters; an account number of BE has 7 digits, or 9 with its check digits.',
    ],
  ])('is a problem if they do not match: %s', (_, values, message) => {
    expect(messagesOf(values)).toEqual([`The account number ${message}`]);
  });

  it.each(countryFormats())(
    'is accepted in $country as it is in the example, behind bank code and branch',
    ({ example }) => {
      const parts = parseIban(example);
      const fields = { ...fieldsOf(example), accountNumber: parts?.bbanRemainder };
      expect(buildIban(fields)).toMatchObject({ kind: 'iban', iban: example });
    },
  );

  it.each(countryFormats())(
    'is accepted in $country as the whole BBAN, without bank code and branch',
    ({ country, example }) => {
      const { bankCode, branch } = fieldsOf(example);
      const bban = example.slice(4);
      expect(buildIban({ country, accountNumber: bban })).toMatchObject({
        kind: 'iban',
        iban: example,
        fields: { bankCode, branch: branch ?? '' },
      });
      // With a bank code, it is not a complete BBAN.
      expect(buildIban({ country, bankCode: 'X', accountNumber: bban })).toMatchObject({ kind: 'invalid' });
    },
  );

  it.each<[string, string, string, string]>([
    ['NO', '8601.11.17948', 'WRONG_CHECK_DIGITS', 'ends in a check digit that does not match; it would be 7.'],
    ['BE', '539-0075470-35', 'WRONG_CHECK_DIGITS', 'ends in check digits that do not match; they would be 34.'],
    [
      'IT',
      'Y0542811101000000123456',
      'WRONG_CHECK_DIGITS',
      'begins with a check digit that does not match; it would be X.',
    ],
    [
      'NO',
      '8601 00 1179O',
      'WRONG_CHARACTERS',
      'has 11 characters, with letters where they are not allowed; an account number',
    ],
  ])('is a problem as the whole BBAN of %s if it is %s: %s', (country, accountNumber, reason, message) => {
    const built = buildIban({ country, accountNumber });
    const problems = built.kind === 'invalid' ? built.problems : [];
    const problem = problems.find(({ field }) => field === 'accountNumber');
    expect(problem?.reason).toBe(reason);
    expect(problem?.message).toContain(`The account number ${message}`);
  });

  it('keeps the given digits where the rule does not cover the account', () => {
    expect(build(['NO', '8601', null, '0011795'])).toMatchObject({
      kind: 'iban',
      iban: ibanOf('NO', '86010011795'),
      fields: { accountNumber: '0011795' },
    });
    expect(build(['NO', '8601', null, '001179'])).toMatchObject({
      kind: 'iban',
      iban: ibanOf('NO', '86010011797'),
      fields: { accountNumber: '001179' },
    });
  });
});

/** What generateIban must return; null: no IBAN. */
const cases: { rows: { country: string; bankCode: string; accountNumber: string; iban: string | null }[] } = JSON.parse(
  readFileSync('test/data/generate-iban.json', 'utf8'),
);

it.each(cases.rows)('$country $bankCode $accountNumber is $iban', ({ iban, ...values }) => {
  const built = buildIban(values, createKnownBanks(createBankLists()).ibanRule);
  if (iban?.startsWith(values.country)) expect(built).toMatchObject({ kind: 'iban', iban });
  else if (iban === null) expect(built.kind).toBe('invalid');
  else expect(built).toMatchObject({ kind: 'invalid', problems: [{ field: 'accountNumber', reason: iban }] });
});

it('a prefix of a Czech account number is never taken into the number', () => {
  // Together, the digits are a valid account number.
  expect(build(['CZ', '0800', '0', '20-00145399'])).toMatchObject({
    problems: [{ field: 'accountNumber', reason: 'WRONG_CHARACTERS' }],
  });
});

describe('check digits behind a separator', () => {
  /** Accounts with check digits of their own next to them. */
  const separate = countryFormats().flatMap((format) => {
    const parts = parseIban(format.example);
    const account = parts ? accountNumberOf(parts) : '';
    const digits = parts?.bbanRemainder.replace(account, '') ?? '';
    const isFirst = parts?.bbanRemainder.startsWith(digits) && !parts.bbanRemainder.startsWith(account);
    const isPadded = ibanFields(format.country).find(({ name }) => name === 'accountNumber')?.padded;
    if (!parts || digits === '') return [];
    return [{ ...format, parts, account: account.replace(/^0+(?=.)/, ''), digits, isFirst, isPadded }];
  });

  const write = (account: string, digits: string, isFirst: boolean | undefined, separator: string) =>
    isFirst ? digits + separator + account : account + separator + digits;

  it('are in all countries that the registry gives them for', () => {
    const countries = separate.map(({ country }) => country);
    expect(countries.join(' ')).toBe('AL BA BE BI DJ EE ES FI FR HU MC ME MK MR NO PT RS SI TL TN');
  });

  it.each(separate)('are those of the account in $country, whose zeros may be left out', (format) => {
    const { country, example, parts, account, digits, isFirst, isPadded } = format;
    const { bankCode, branch } = parts;
    for (const separator of ['-', ' - ', '\u2013', ' ', '.']) {
      const accountNumber = write(account, digits, isFirst, separator);
      for (const written of [accountNumber, `${bankCode}-${branch === null ? '' : `${branch}-`}${accountNumber}`]) {
        const built = buildIban({ country, bankCode, branch, accountNumber: written });
        // A number that must be complete may be refused.
        const fields = { accountNumber: expect.stringMatching(`^0*${account}$`) };
        if (built.kind === 'iban' || isPadded) expect(built).toMatchObject({ kind: 'iban', iban: example, fields });
      }
    }
  });

  it.each(separate)('that do not match are never taken into the account in $country', (format) => {
    const { country, parts, account, digits, isFirst } = format;
    const wrong = String((Number(digits) + 1) % 10 ** digits.length).padStart(digits.length, '0');
    for (let length = 1; length <= account.length; length += 1) {
      for (const separator of ['-', ' ']) {
        const accountNumber = write(account.slice(0, length), digits, isFirst, separator);
        const built = buildIban({ ...parts, country, accountNumber });
        if (built.kind !== 'iban') continue;
        expect(nationalCheck(built.iban)).toBe('PASSED');
        expect(parseIban(built.iban)?.bbanRemainder).toContain(digits);
        expect(accountNumberOf(parseIban(built.iban) as IbanParts).replace(/^0+(?=.)/, '')).toBe(
          account.slice(0, length),
        );
      }
    }
    const built = buildIban({ ...parts, country, accountNumber: write(account, wrong, isFirst, '-') });
    expect(built).toMatchObject({ kind: 'invalid', problems: [{ field: 'accountNumber' }] });
  });

  it.each<[string, Values, string]>([
    ['a lost zero', ['RS', '160', null, '5100-5'], 'RS35160000000000510005'],
    ['a complete number in groups', ['RS', '160', null, '0000 0000 0510 0'], 'RS35160000000000510005'],
    ['digits that the rule does not cover', ['RS', '908', null, '20501-70'], ibanOf('RS', '908000000002050170')],
  ])('with %s', (_, values, iban) => {
    expect(build(values)).toMatchObject({ kind: 'iban', iban });
  });

  it('are sent to services with a complete number where the rule does not cover the account', () => {
    expect(build(['RS', '908', null, '20501-71'])).toMatchObject({ fields: { accountNumber: '000000002050171' } });
  });
});

describe('check digits inside a field', () => {
  const ends = (digit: number) => `ends in a check digit that does not match; it would be ${digit}.`;

  it.each<[string, Values, Partial<Record<keyof IbanFieldValues, string>>]>([
    ['HR', ['HR', '1001006', null, '1863000161'], { bankCode: ends(5), accountNumber: ends(0) }],
    ['NL', ['NL', 'ABNA', null, '417164301'], { accountNumber: ends(0) }],
    [
      'NL, without a digit that is right',
      ['NL', 'ABNA', null, '0100000070'],
      { accountNumber: 'cannot exist in NL: its check digit would be 10.' },
    ],
    ['PL', ['PL', '10901015', null, '0000071219812874'], { bankCode: ends(4) }],
    ['CZ', ['CZ', '0800', '18', '2000145398'], { branch: ends(9), accountNumber: ends(9) }],
    [
      'HU',
      ['HU', '117', '7301', '5111110180000000'],
      { accountNumber: 'begins with a check digit that does not match; it would be 6.' },
    ],
    [
      'RU',
      ['RU', '044525225', '40817', '810638091310419'],
      { accountNumber: 'has, in place 4, a check digit that does not match; it would be 5.' },
    ],
    [
      'ST',
      ['ST', '0001', '0001', '0051845310147'],
      { accountNumber: 'ends in check digits that do not match; they would be 46.' },
    ],
  ])('are a problem of this field in %s', (_, values, messages) => {
    const names = { bankCode: 'bank code', branch: 'branch', accountNumber: 'account number' };
    const problems = Object.entries(names).flatMap(([field, name]) => {
      const message = messages[field as keyof typeof names];
      return message === undefined ? [] : [{ field, message: `The ${name} ${message}` }];
    });
    expect(build(values)).toMatchObject({ kind: 'invalid', problems, suggestions: [] });
  });

  it('are accepted where the rule does not cover the account', () => {
    const bban = 'INGB0001234567';
    expect(findWrongCheckDigits(checkOf('NL'), bban)).toHaveLength(1);
    expect(build(['NL', 'INGB', null, '1234567'])).toMatchObject({ kind: 'iban', iban: ibanOf('NL', bban) });
  });
});

describe('a territory', () => {
  const territories = allFormats.filter(({ parent }) => parent !== null);

  it.each(territories)('$country is a problem, and the IBAN of $parent is suggested', ({ country, parent }) => {
    const example = findCountryFormat(parent ?? '')?.example ?? '';
    expect(buildIban({ ...fieldsOf(example), country })).toMatchObject({
      kind: 'invalid',
      problems: [
        { field: 'country', message: `The country is ${country}, whose banks use IBANs of ${parent}; use ${parent}.` },
      ],
      suggestions: [example],
    });
  });

  it('is reported with the problems of all other fields, for which there is no suggestion', () => {
    const generated = build(['JE', 'NWBK', null, '31926819']);
    expect(generated).toMatchObject({
      kind: 'invalid',
      problems: [
        { field: 'country', message: 'The country is JE, whose banks use IBANs of GB; use GB.' },
        { field: 'branch', message: 'The branch is missing; a branch of GB has 6 digits.' },
      ],
      suggestions: [],
    });
  });
});

describe('ibanFields', () => {
  it('pads account prefixes and account numbers only, and no letters', () => {
    for (const { country } of countryFormats()) {
      for (const { name, characters, padded } of ibanFields(country).filter((field) => field.padded)) {
        expect(padded && name !== 'bankCode' && characters !== 'letters').toBe(true);
        if (name === 'branch') expect(['CZ', 'SK']).toContain(country);
      }
    }
  });

  it.each(['US', '', 'de'])('has no fields for "%s"', (country) => {
    expect(ibanFields(country)).toEqual([]);
  });
});

describe('the message of a field problem', () => {
  it.each<[string, Values, string]>([
    ['a missing field', ['GB', 'NWBK', null, '31926819'], 'The branch is missing; a branch of GB has 6 digits.'],
    [
      'letters among digits',
      ['DE', '3704O044', null, '1'],
      'The bank code has 8 characters, with letters where they are not allowed; a bank code of DE has 8 digits.',
    ],
    [
      'digits among letters',
      ['NL', '4BNA', null, '417164300'],
      'The bank code has 4 characters, with digits where they are not allowed; a bank code of NL has 4 letters.',
    ],
    [
      'characters that are neither',
      ['DE', '37040044', null, '53201/ä'],
      'The account number has 7 characters, with characters other than letters and digits where they are not allowed; an account number of DE has up to 10 digits.',
    ],
    ['one character', ['BE', '5', null, '0075470'], 'The bank code has 1 character; a bank code of BE has 3 digits.'],
    [
      'a letter where only a digit is allowed',
      ['BR', '00360305', '00001', 'X795493C1'],
      'The account number has 9 characters, with letters where they are not allowed; an account number of BR has up to 10 digits, 1 letter and 1 letter or digit.',
    ],
    [
      'a digit where only a letter is allowed',
      ['BR', '00360305', '00001', '979549311'],
      'The account number has 9 characters, with digits where they are not allowed; an account number of BR has up to 10 digits, 1 letter and 1 letter or digit.',
    ],
    [
      'an account number that is too short',
      ['NO', '8601', null, '11179'],
      'The account number has 5 characters; an account number of NO has 6 digits, or 7 with its check digit.',
    ],
    [
      'a number that is not issued',
      ['NO', '8601', null, '111705'],
      'The account number cannot exist in NO: its check digit would be 10.',
    ],
    ['a country without IBANs', ['US', '1'], 'The country is US, which has no IBANs.'],
    [
      'a country outside the registry',
      ['MA', '1'],
      'The country is MA, which is not in the SWIFT registry; an IBAN can be generated for countries of the registry.',
    ],
    ['a country of three letters', ['DEU'], 'The country has 3 characters; a country code has 2 letters.'],
    ['no country', [' '], 'The country is missing; a country code has 2 letters.'],
  ])('explains %s', (_, values, message) => {
    expect(messagesOf(values)).toEqual([message]);
  });

  it.each<[Values, string, string, object | null]>([
    [['DEU'], 'country', 'WRONG_LENGTH', { min: 2, max: 2 }],
    [['D1'], 'country', 'WRONG_CHARACTERS', { min: 2, max: 2 }],
    [[' '], 'country', 'REQUIRED', { min: 2, max: 2 }],
    [['US'], 'country', 'UNKNOWN_COUNTRY', { min: 2, max: 2 }],
    [['MA'], 'country', 'NOT_REGISTERED', { min: 2, max: 2 }],
    [['DE', '37040044'], 'accountNumber', 'REQUIRED', { min: 1, max: 10 }],
    [['DE', '3704004O', null, '1'], 'bankCode', 'WRONG_CHARACTERS', { min: 8, max: 8 }],
    [['DE', '37040044', '1', '1'], 'branch', 'NOT_IN_COUNTRY', null],
    [['BE', '539', null, '0075'], 'accountNumber', 'WRONG_LENGTH', { min: 7, max: 9 }],
    [['BE', '539', null, '007547035'], 'accountNumber', 'WRONG_CHECK_DIGITS', { min: 7, max: 9 }],
    [['JE', 'NWBK', '601613', '31926819'], 'country', 'TERRITORY', { min: 2, max: 2 }],
  ])('has its reason and lengths beside it, for programs: %j', (values, field, reason, length) => {
    expect(build(values)).toMatchObject({ kind: 'invalid', problems: [{ field, reason, length }] });
  });

  it('never contains the value: an account number is personal data', () => {
    for (const accountNumber of ['053201300099', '53X2O13']) {
      for (const message of messagesOf(['DE', '37040044', null, accountNumber])) {
        for (let at = 0; at + 3 <= accountNumber.length; at += 1) {
          expect(message).not.toContain(accountNumber.slice(at, at + 3));
        }
      }
    }
  });
});

function ibanOf(country: string, bban: string): string {
  return country + calcCheckDigits(country, bban) + bban;
}

function checkOf(country: string) {
  const check = findNationalCheck(country);
  if (check === null) throw new Error(`no check of ${country}`);
  return check;
}

function messagesOf(values: Values): readonly string[] {
  const generated = build(values);
  return generated.kind === 'invalid' ? generated.problems.map(({ message }) => message) : [];
}
