import { describe, expect, it } from 'vitest';
import { parseIban } from '../../src/iban/iban.ts';
import { countryFormats } from '../../src/iban/registry.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };

const executed = vectors.parts.filter(({ source }) => source.includes('executed'));

describe('parseIban', () => {
  it.each(executed)('agrees with an independent implementation on $iban', (expected) => {
    const parts = parseIban(expected.iban);
    expect(parts).toMatchObject({
      bankCode: expected.bank_code,
      branch: expected.branch || null,
      nationalCheckDigits: expected.national_check || null,
    });
    expect(parts?.bbanRemainder).toContain(expected.account_number);
  });

  it.each([
    ['after the account', 'FR1420041010050500013M02606', '06', '0500013M02606'],
    ['before the account', 'ES9121000418450200051332', '45', '450200051332'],
    ['before the bank code', 'IT60X0542811101000000123456', 'X', '000000123456'],
    ['at the end of the bank code', 'PL61109010140000071219812874', '4', '0000071219812874'],
    ['between branch and account', 'AL47212110090000000235698741', '9', '90000000235698741'],
    ['nowhere', 'DE89370400440532013000', null, '0532013000'],
  ])('finds national check digits %s', (_, iban, nationalCheckDigits, bbanRemainder) => {
    expect(parseIban(iban)).toMatchObject({ nationalCheckDigits, bbanRemainder });
  });

  it('returns all parts of an IBAN', () => {
    expect(parseIban('GB29NWBK60161331926819')).toEqual({
      countryCode: 'GB',
      checkDigits: '29',
      bban: 'NWBK60161331926819',
      bankCode: 'NWBK',
      branch: '601613',
      nationalCheckDigits: null,
      bbanRemainder: '31926819',
    });
  });

  it('does not check the check digits', () => {
    expect(parseIban('DE00370400440532013000')?.bankCode).toBe('37040044');
  });

  it('returns no empty part for any country', () => {
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
  ])('returns null for a text that is %s', (_, text) => {
    expect(parseIban(text)).toBeNull();
  });
});
