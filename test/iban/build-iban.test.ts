import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildIban, type IbanFieldValues, ibanFields } from '../../src/iban/build-iban.ts';
import { findIbanProblems, parseIban } from '../../src/iban/iban.ts';
import { nationalCheck } from '../../src/iban/national-checks.ts';
import { countryFormats } from '../../src/iban/registry.ts';
import { accountNumberOf, allFormats, anyIban } from '../support/iban/any-iban.ts';

/** The fields that generate an IBAN of the right structure. */
function fieldsOf(iban: string): IbanFieldValues {
  const parts = parseIban(iban);
  if (parts === null) throw new Error('an IBAN of the wrong structure');
  const { countryCode: country, bankCode, branch } = parts;
  return { country, bankCode, branch, accountNumber: accountNumberOf(parts) };
}

describe('every country', () => {
  // No exceptions: every published example that has a national check satisfies it.
  it.each(allFormats)('and territory $country generates its example from its own parts', ({ example }) => {
    expect(buildIban(fieldsOf(example))).toEqual({ kind: 'iban', iban: example });
  });

  it('generates only valid IBANs with the given fields, which pass national checks', () => {
    fc.assert(
      fc.property(anyIban, (other) => {
        const fields = fieldsOf(other);
        const generated = buildIban(fields);
        if (generated.kind === 'invalid') {
          expect(generated.problems).toEqual([
            { field: 'accountNumber', message: expect.stringContaining('check digit') },
          ]);
          return;
        }
        expect(findIbanProblems(generated.iban)).toEqual([]);
        expect(fieldsOf(generated.iban)).toEqual(fields);
        const includesCheckDigits = ['CZ', 'HR', 'HU', 'NL', 'PL', 'SK', 'XK'].includes(fields.country);
        if (!includesCheckDigits) expect(nationalCheck(generated.iban)).not.toBe('FAILED');
      }),
      { numRuns: 1_000 },
    );
  });

  it('never throws', () => {
    const anyText = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[A-Z0-9]{0,20}$/)));
    const anyCountry = fc.oneof(fc.constantFrom(...allFormats.map(({ country }) => country)), fc.string());
    fc.assert(
      fc.property(anyCountry, anyText, anyText, anyText, (country, bankCode, branch, accountNumber) => {
        const generated = buildIban({ country, bankCode, branch, accountNumber });
        if (generated.kind === 'iban') expect(findIbanProblems(generated.iban)).toEqual([]);
        else for (const { message } of generated.problems) expect(message).toMatch(/^[a-zA-Z]+ (has|is|cannot) .*\.$/);
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
    ['an account number with letters', ['FR', '20041', '01005', '500013M026'], 'FR1420041010050500013M02606'],
    ['an empty branch in a country without branches', ['NO', '8601', '', '111794'], 'NO9386011117947'],
    ['a null branch in a country without branches', ['BE', '539', null, '0075470'], 'BE68539007547034'],
    ['the type of account and its holder', ['BR', '00360305', '00001', '9795493C1'], 'BR1800360305000010009795493C1'],
  ])('accepts %s', (_, values, iban) => {
    expect(build(values)).toEqual({ kind: 'iban', iban });
  });
});

describe('ibanFields', () => {
  it('names the fields of a country', () => {
    expect(ibanFields('GB')).toEqual([
      { name: 'bankCode', length: 4, characters: 'letters', padded: false },
      { name: 'branch', length: 6, characters: 'digits', padded: false },
      { name: 'accountNumber', length: 8, characters: 'digits', padded: true },
    ]);
  });

  it('returns the same fields for a territory and its parent', () => {
    expect(ibanFields('MQ')).toEqual(ibanFields('FR'));
    expect(ibanFields('AX')).toEqual(ibanFields('FI'));
  });

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
    ['a missing field', ['GB', 'NWBK', null, '31926819'], 'branch is missing; a branch of GB has 6 digits.'],
    [
      'letters among digits',
      ['DE', '3704O044', null, '1'],
      'bankCode has 8 characters, with letters where they are not allowed; a bank code of DE has 8 digits.',
    ],
    [
      'digits among letters',
      ['NL', '4BNA', null, '417164300'],
      'bankCode has 4 characters, with digits where they are not allowed; a bank code of NL has 4 letters.',
    ],
    [
      'characters that are neither',
      ['DE', '37040044', null, '53201/ä'],
      'accountNumber has 7 characters, with characters other than letters and digits where they are not allowed; an account number of DE has up to 10 digits.',
    ],
    ['one character', ['BE', '5', null, '0075470'], 'bankCode has 1 character; a bank code of BE has 3 digits.'],
    [
      'a letter where only a digit is allowed',
      ['AL', '212', '1100', 'X0000000235698741'],
      'accountNumber has 17 characters, with letters where they are not allowed; an account number of AL has 1 digit and 16 letters or digits.',
    ],
    [
      'a digit where only a letter is allowed',
      ['BR', '00360305', '00001', '979549311'],
      'accountNumber has 9 characters, with digits where they are not allowed; an account number of BR has up to 10 digits, 1 letter and 1 letter or digit.',
    ],
    [
      'an account number that includes the check digit',
      ['NO', '8601', null, '1117947'],
      'accountNumber has 7 characters; an account number of NO has 6 digits.',
    ],
    [
      'a number that is not issued',
      ['NO', '8601', null, '111705'],
      'accountNumber cannot exist in NO: its check digit would be 10.',
    ],
    ['a country without IBANs', ['US', '1'], 'country is US, which has no IBANs.'],
    ['a country of three letters', ['DEU'], 'country has 3 characters; a country code has 2 letters.'],
    ['no country', [' '], 'country is missing; a country code has 2 letters.'],
  ])('explains %s', (_, values, message) => {
    expect(messagesOf(values)).toEqual([message]);
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

function messagesOf(values: Values): readonly string[] {
  const generated = build(values);
  return generated.kind === 'invalid' ? generated.problems.map(({ message }) => message) : [];
}
