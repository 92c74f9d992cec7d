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
  it.each(countryFormats())('$country generates its example from its own parts', ({ example }) => {
    expect(buildIban(fieldsOf(example))).toEqual({ kind: 'iban', iban: example });
  });

  it.each(allFormats.filter(({ parent }) => parent))(
    '$country generates its example as $parent does',
    ({ example }) => {
      expect(buildIban(fieldsOf(example))).toEqual({ kind: 'iban', iban: example });
    },
  );

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

describe('buildIban', () => {
  it.each<[string, IbanFieldValues, string]>([
    [
      'spaces, hyphens and small letters',
      { country: 'de', bankCode: '370 400 44', accountNumber: '0532-013-000' },
      'DE89370400440532013000',
    ],
    [
      'an account number without its leading zeros',
      { country: 'DE', bankCode: '37040044', accountNumber: '532013000' },
      'DE89370400440532013000',
    ],
    [
      'an account prefix without its leading zeros',
      { country: 'CZ', bankCode: '0800', branch: '19', accountNumber: '2000145399' },
      'CZ6508000000192000145399',
    ],
    [
      'an account number with letters',
      { country: 'FR', bankCode: '20041', branch: '01005', accountNumber: '500013M026' },
      'FR1420041010050500013M02606',
    ],
    [
      'an empty branch in a country without branches',
      { country: 'NO', bankCode: '8601', branch: '', accountNumber: '111794' },
      'NO9386011117947',
    ],
    [
      'a null branch in a country without branches',
      { country: 'BE', bankCode: '539', branch: null, accountNumber: '0075470' },
      'BE68539007547034',
    ],
    [
      'the type of account and its holder',
      { country: 'BR', bankCode: '00360305', branch: '00001', accountNumber: '9795493C1' },
      'BR1800360305000010009795493C1',
    ],
  ])('accepts %s', (_, fields, iban) => {
    expect(buildIban(fields)).toEqual({ kind: 'iban', iban });
  });

  it('reports all problems at once, in the order of the fields', () => {
    expect(buildIban({ country: 'DE', bankCode: '3704004', branch: '001', accountNumber: '05320130001' })).toEqual({
      kind: 'invalid',
      problems: [
        { field: 'bankCode', message: 'bankCode has 7 characters; a bank code of DE has 8 digits.' },
        { field: 'branch', message: 'branch has 3 characters; an IBAN of DE has no branch.' },
        {
          field: 'accountNumber',
          message: 'accountNumber has 11 characters; an account number of DE has up to 10 digits.',
        },
      ],
    });
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
