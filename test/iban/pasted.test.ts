import { expect, it } from 'vitest';
import { compactBic, findBicProblems, parseBic } from '../../src/iban/bic.ts';
import { compactIban } from '../../src/iban/iban.ts';
import { findPastedBic, findPastedIban } from '../../src/iban/pasted.ts';
import { suggestIbans } from '../../src/iban/suggest-ibans.ts';

const german = 'DE89370400440532013000';
const french = 'FR1420041010050500013M02606';
const british = 'GB29NWBK60161331926819';

it.each([
  ['IBAN DE89 3704 0044 0532 0130 00', german],
  ['IBAN: DE89370400440532013000', german],
  ['iban:de89370400440532013000', german],
  ['IBAN-Nr. DE89 3704 0044 0532 0130 00', german],
  ['IBAN-Nr.: DE89370400440532013000', german],
  ['IBAN No. DE89370400440532013000', german],
  ['"DE89370400440532013000"', german],
  ['„DE89 3704 0044 0532 0130 00“', german],
  ['(DE89370400440532013000)', german],
  ['[DE89370400440532013000]', german],
  ['<DE89370400440532013000>', german],
  ['DE89/3704/0044/0532/0130/00', german],
  ['DE89.3704.0044.0532.0130.00', german],
  ['DE89_3704_0044_0532_0130_00', german],
  ['DE89−3704−0044−0532−0130−00', german],
  ['DE89,3704,0044,0532,0130,00', german],
  ["'DE89370400440532013000'", german],
  ['DE89370400440532013000.', german],
  ['DE89370400440532013000;', german],
  ['iban=DE89370400440532013000', german],
  ['#DE89370400440532013000', german],
  ['DE89370400440532013000 BIC COBADEFFXXX', german],
  ['COBADEFFXXX DE89370400440532013000', german],
  ['ＤＥ８９３７０４００４４０５３２０１３０００', german],
  ['DE٨٩٣٧٠٤٠٠٤٤٠٥٣٢٠١٣٠٠٠', german],
  ['DE۸۹۳۷۰۴۰۰۴۴۰۵۳۲۰۱۳۰۰۰', german],
  ['DE८९३७०४००४४०५३२०१३०००', german],
  ['𝐃𝐄𝟖𝟗𝟑𝟕𝟎𝟒𝟎𝟎𝟒𝟒𝟎𝟓𝟑𝟐𝟎𝟏𝟑𝟎𝟎𝟎', german],
  ['IBAN:GB29 NWBK 6016 1331 9268 19', british],
  // cspell:disable
  ['Bitte überweisen Sie auf DE89 3704 0044 0532 0130 00.', german],
  ['Kontonummer (IBAN): DE89 3704 0044 0532 0130 00 BIC: COBADEFFXXX', german],
  ['Numéro IBAN : FR14 2004 1010 0505 0001 3M02 606 (merci)', french],
  ['Cuenta FR14-2004-1010-0505-0001-3M02-606 a nombre de Ana', french],
  ['Rekeningnummer GB29 NWBK 6016 1331 9268 19 t.n.v. J. Jansen', british],
  ['Номер счёта: DE89 3704 0044 0532 0130 00', german],
  ['国际银行账户号码：DE89 3704 0044 0532 0130 00', german],
  ['رقم الآيبان: DE٨٩ ٣٧٠٤ ٠٠٤٤ ٠٥٣٢ ٠١٣٠ ٠٠', german],
  ['αριθμός IBAN «DE89·3704·0044·0532·0130·00»', german],
  // cspell:enable
  ['https://pay.example/?iban=DE89370400440532013000&amount=100', german],
  ['{"iban":"DE89370400440532013000"}', german],
  ['DE89 3704 0044 0532 0130 00 EUR 100,00', german],
  ['DE89 3704 0044 0532 0130 00 (not DE88 3704 0044 0532 0130 00)', german],
  ['ДЕ89370400440532013000', null],
  [`${german}/${german}`, german],
  [`${german} ${british}`, null],
  ['IBAN', null],
  ['IBAN: DE89370400440532013009', null],
  ['IBAN: XX89370400440532013000', null],
  ['DE8937040044053201300', null],
  ['', null],
])('the pasted text %j contains the IBAN %s', (text, iban) => {
  expect(findPastedIban(text)).toBe(iban);
  const compacted = compactIban(text);
  // A text that is an IBAN, written in another way, needs no suggestion.
  if (iban !== null && compacted !== iban) expect(suggestIbans(compacted)).toEqual([iban]);
});

it.each([
  ['BIC: COBADEFFXXX', 'COBADEFFXXX'],
  ['BIC COBADEFF', 'COBADEFF'],
  ['bic:cobadeff', 'COBADEFF'],
  ['SWIFT: DEUTDEFF', 'DEUTDEFF'],
  ['SWIFT-BIC: DEUTDEFF500', 'DEUTDEFF500'],
  ['BIC/SWIFT DEUTDEFF', 'DEUTDEFF'],
  ['SWIFT code: DEUTDEFF', 'DEUTDEFF'],
  ['"COBADEFF"', 'COBADEFF'],
  ['(COBADEFFXXX)', 'COBADEFFXXX'],
  ['COBA.DE.FF', 'COBADEFF'],
  ['COBA/DE/FF/XXX', 'COBADEFFXXX'],
  ['COBA_DE_FF', 'COBADEFF'],
  // cspell:disable-next-line
  ['ＣＯＢＡＤＥＦＦ', 'COBADEFF'],
  ['BICSDEFF', 'BICSDEFF'],
  ['SWIFTING', null],
  ['BIC: COBAQQFF', null],
  ['BIC', null],
  ['Commerzbank AG, Frankfurt, BIC: COBADEFFXXX', 'COBADEFFXXX'],
  ['BIC COBADEFFXXX (Commerzbank)', 'COBADEFFXXX'],
  ['IBAN DE89370400440532013000 BIC COBADEFFXXX', 'COBADEFFXXX'],
  ['BIC: COBADEFF IBAN: DE89370400440532013000', 'COBADEFF'],
  ['Código SWIFT: BSCHESMM', 'BSCHESMM'],
  // cspell:disable-next-line
  ['Codice BIC/SWIFT UNCRITMM', 'UNCRITMM'],
  ['Bank Identifier Code: COBADEFFXXX', 'COBADEFFXXX'],
  ['SWIFT代码：COBADEFF', 'COBADEFF'],
  ['<BIC>COBADEFF</BIC>', 'COBADEFF'],
  ['BIC: COBADEFF, or BIC: COBADEFF', 'COBADEFF'],
  ['BIC: COBADEFF, or BIC: DEUTDEFF', null],
  ['Commerzbank, COBADEFF', null],
  ['the BIC is COBADEFF', null],
  [german, null],
  ['', null],
])('the pasted text %j contains the BIC %s', (text, bic) => {
  expect(findPastedBic(text)).toBe(bic);
  expect(findPastedBic(compactBic(text))).toBe(bic);
});

it('the IBAN in a text comes before those with one typo', () => {
  const [first, ...others] = suggestIbans(`${british}1`);
  expect(first).toBe(british);
  expect(others).not.toContain(british);
  expect(suggestIbans(`${british}1`, { limit: 1, isKnownBank: () => true })).toEqual([british]);
});

it('XE is a country in BICs only', () => {
  expect(findBicProblems('TRGTXEPMXXX')).toEqual([]);
  expect(parseBic('TRGTXEPM')?.countryCode).toBe('XE');
  expect(findPastedIban('XE89370400440532013000')).toBeNull();
});
