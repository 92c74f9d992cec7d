import { getAlpha2Codes } from 'i18n-iso-countries/index.js';
import { describe, expect, it } from 'vitest';
import { type BicProblem, compactBic, findBicProblems, parseBic } from '../../src/iban/bic.ts';
import { countryCodes } from '../../src/iban/country-codes.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };

describe('findBicProblems', () => {
  it.each<[string, string, BicProblem[]]>([
    ['an empty text', '', ['WRONG_LENGTH']],
    ['seven characters', 'COBADEF', ['WRONG_LENGTH']],
    ['nine characters, in the wrong country too', 'COBAAAFFX', ['WRONG_LENGTH']],
    ['twelve characters', 'COBADEFFXXXX', ['WRONG_LENGTH']],
    ['a country that does not exist', 'COBAAAFF', ['UNKNOWN_COUNTRY']],
    ['Kosovo, which has none', 'NCBVXKPR', []],
    ['digits as country code', 'COBA49FF', ['UNKNOWN_COUNTRY']],
    ['small letters, which compacting would change', 'cobadeff', ['ILLEGAL_CHARACTERS']],
    ['a space, which compacting would remove', 'COBA DEFF', ['ILLEGAL_CHARACTERS']],
    ['letters of another script', 'СОВАDEFF', ['ILLEGAL_CHARACTERS']],
  ])('finds the problem of %s', (_, bic, problems) => {
    expect(findBicProblems(bic)).toEqual(problems);
  });
});

it('the published BICs have the published result, except for two rules of ours', () => {
  const surprises = vectors.bics.filter(({ bic, valid }) => (findBicProblems(compactBic(bic)).length === 0) !== valid);
  expect(surprises.map(({ bic }) => bic)).toEqual([
    // ISO 9362:2014 allows digits in the party prefix, and others of this list are published as valid.
    'S23CKENXXXX',
    // A BIC may be typed in lower case; it is normalized before validation.
    'DeutAT2LXXX',
  ]);
});

describe('compactBic', () => {
  it.each(['COBA DE FF XXX', 'coba-de-ff-xxx', '\u200bCOBADEFFXXX\n'])('normalizes %j', (text) => {
    expect(compactBic(text)).toBe('COBADEFFXXX');
  });
});

describe('parseBic', () => {
  const commerzbank = { partyPrefix: 'COBA', countryCode: 'DE', location: 'FF', branch: 'XXX', isHeadOffice: true };
  it.each([
    ['BKAUATWWWOL', { partyPrefix: 'BKAU', countryCode: 'AT', location: 'WW', branch: 'WOL', isTest: false }],
    ['COBADEFF', { ...commerzbank, isTest: false }],
    ['COBADEFFXXX', { ...commerzbank, isTest: false }],
    ['COBADEF0', { ...commerzbank, location: 'F0', isTest: true }],
    ['COBADEF0XXX', { ...commerzbank, location: 'F0', isTest: true }],
    ['COBADE0F', { ...commerzbank, location: '0F', isTest: false }],
    ['COBADEFF000', { ...commerzbank, branch: '000', isHeadOffice: false, isTest: false }],
  ])('returns all parts of %s', (bic, parts) => {
    expect(parseBic(bic)).toEqual({ bic, isHeadOffice: false, ...parts });
  });
});

describe('the country codes', () => {
  it('are those of ISO 3166-1, and Kosovo', () => {
    const published = new Set([...Object.keys(getAlpha2Codes()), 'XK']);
    expect([...countryCodes].sort()).toEqual([...published].sort());
    expect(countryCodes.size).toBe(250);
  });
});
