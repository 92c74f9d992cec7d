import { describe, expect, it } from 'vitest';
import { parseIban } from '../../src/iban/iban.ts';
import { countryFormats } from '../../src/iban/registry.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };

const executed = vectors.parts.filter(({ source }) => source.includes('executed'));

describe('takeApart', () => {
  it.each(executed)('agrees with an independent implementation on $iban', (expected) => {
    expect(parseIban(expected.iban)).toMatchObject({
      bankCode: expected.bank_code,
      branch: expected.branch || null,
      accountNumber: expected.account_number,
      nationalCheckDigits: expected.national_check || null,
    });
  });

  it.each([
    ['behind the account', 'FR1420041010050500013M02606', '0500013M026', '06', '0500013M02606'],
    ['before the account', 'ES9121000418450200051332', '0200051332', '45', '450200051332'],
    ['in front of the bank code', 'IT60X0542811101000000123456', '000000123456', 'X', '000000123456'],
    ['at the end of the bank code', 'PL61109010140000071219812874', '0000071219812874', '4', '0000071219812874'],
    ['between branch and account', 'AL47212110090000000235698741', '0000000235698741', '9', '90000000235698741'],
    ['nowhere', 'DE89370400440532013000', '0532013000', null, '0532013000'],
    ['nowhere, but kind and holder are there', 'BR1800360305000010009795493C1', '0009795493', null, '0009795493C1'],
  ])('finds the account where national check digits stand %s', (_, iban, accountNumber, check, remainder) => {
    expect(parseIban(iban)).toMatchObject({ accountNumber, nationalCheckDigits: check, bbanRemainder: remainder });
  });

  it('takes a whole IBAN apart', () => {
    expect(parseIban('GB29NWBK60161331926819')).toEqual({
      countryCode: 'GB',
      checkDigits: '29',
      bban: 'NWBK60161331926819',
      bankCode: 'NWBK',
      branch: '601613',
      accountNumber: '31926819',
      nationalCheckDigits: null,
      bbanRemainder: '31926819',
    });
  });

  it('does so whatever the check digits say', () => {
    expect(parseIban('DE00370400440532013000')?.bankCode).toBe('37040044');
  });

  it('leaves no part of any country empty', () => {
    for (const { example } of countryFormats()) {
      for (const part of Object.values(parseIban(example) ?? {})) expect(part).not.toBe('');
    }
  });

  it.each([
    ['too short', 'DE8937040044053201300'],
    ['of an unknown country', 'US89370400440532013000'],
    ['of the wrong structure', 'DE8937040044053201300X'],
    ['not compacted', 'CH93 0076 2011 6238 5295 7'],
    ['in small letters', 'FR1420041010050500013m02606'],
    ['empty', ''],
  ])('knows no parts of a text that is %s', (_, text) => {
    expect(parseIban(text)).toBeNull();
  });
});
