import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCharactersOutsideSepa, toSepaCharacters } from '../../../src/check/pain/sepa-characters.ts';
import {
  describeCreditorIdProblem,
  isTargetClosed,
  parseDate,
  parseDateTime,
  parseDecimal,
  printUnits,
  repairDecimal,
} from '../../../src/check/pain/values.ts';
import { anyCharacter } from '../../support/random.ts';

// cspell:ignore aerzte athina lukasz orsted softhyphen sofiya zabcdefghijklmnopqrstuvwxyz zizka zuerich Αθήνα

describe('decimals', () => {
  it.each([
    ['0', 0n, 0],
    ['1', 100_000n, 0],
    ['1.', 100_000n, 0],
    ['.5', 50_000n, 1],
    ['+007.10', 710_000n, 2],
    ['0.00001', 1n, 5],
    ['9999999999999.99999', 999_999_999_999_999_999n, 5],
  ])('%s is read', (text, units, decimals) => {
    expect(parseDecimal(text)).toEqual({ units, decimals });
  });

  it.each(['', '.', '+', '-1', '1,5', '1 000', '1e3', '0x10', '1.000001', '1'.repeat(19), '١'])('%j is not', (text) => {
    expect(parseDecimal(text)).toBeNull();
  });

  it('are printed as they were read', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (units) => {
        expect(parseDecimal(printUnits(units))?.units).toBe(units);
        expect(printUnits(units)).toMatch(/^\d+\.\d{2,5}$/);
      }),
    );
  });

  it.each([
    ['1.234,56', '1234.56'],
    ['1,234.56', '1234.56'],
    ["1'234.5", '1234.50'],
    ['12,5', '12.50'],
    ['1 234 567,89', '1234567.89'],
    ['1.234', null],
    ['1,234', null],
    ['12.34.56', null],
    ['EUR 5', null],
  ])('%s means %s', (text, repaired) => {
    expect(repairDecimal(text)).toBe(repaired);
  });
});

describe('dates', () => {
  it.each([
    ['2026-11-30', '2026-11-30'],
    ['2024-02-29+01:00', '2024-02-29'],
    ['2023-02-29', null],
    ['2026-13-01', null],
    ['30.11.2026', null],
    ['2026-11-30T00:00:00', null],
    ['20261130', null],
  ])('%s: %s', (text, day) => {
    expect(parseDate(text)).toBe(day);
  });

  it.each([
    ['2026-11-30T09:30:00', '2026-11-30'],
    ['2026-11-30T23:59:59.999Z', '2026-11-30'],
    ['2026-11-30T24:00:00', '2026-11-30'],
    ['2026-11-30T24:00:01', null],
    ['2026-11-30T09:30:00+14:00', '2026-11-30'],
    ['2026-11-30T09:30:00+15:00', null],
    ['2026-11-30T09:60:00', null],
    ['2026-11-31T09:30:00', null],
    ['2026-11-30', null],
    ['2026-11-30 09:30:00', null],
  ])('%s: %s', (text, day) => {
    expect(parseDateTime(text)).toBe(day);
  });

  // Good Friday and Easter Monday, as published for TARGET.
  it.each([
    '2024-03-29',
    '2024-04-01',
    '2025-04-18',
    '2025-04-21',
    '2026-04-03',
    '2026-04-06',
    '2027-03-26',
    '2027-03-29',
    '2038-04-23',
  ])('TARGET is closed on %s, at Easter', (day) => {
    expect(isTargetClosed(day)).toBe(true);
  });

  it('TARGET is closed on six days of 2029 that are not at a weekend, and on no others', () => {
    const closed = Array.from({ length: 365 }, (_, index) => new Date(Date.UTC(2029, 0, 1 + index)))
      .filter((date) => date.getUTCDay() % 6 !== 0)
      .map((date) => date.toISOString().slice(0, 10))
      .filter(isTargetClosed);
    expect(closed).toEqual(['2029-01-01', '2029-03-30', '2029-04-02', '2029-05-01', '2029-12-25', '2029-12-26']);
  });
});

describe('creditor identifiers', () => {
  it.each(['DE98ZZZ09999999999', 'DE98ABC09999999999', 'AT61ZZZ01234567890', 'BE120010456810810'])(
    '%s is valid',
    (id) => {
      expect(describeCreditorIdProblem(id)).toBeNull();
    },
  );

  it.each([
    ['', /must be a country code/],
    ['de98zzz09999999999', /must be a country code/],
    ['DE98ZZZ', /must be a country code/],
    ['DE98ZZZ0999999999 9', /must be a country code/],
    [`DE98ZZZ${'0'.repeat(29)}`, /must be a country code/],
    ['ZZ98ZZZ09999999999', /must begin with a country code/],
    ['DE98ZZZ09999999998', /check digits/],
    ['DE98ZZZ--', /check digits/],
  ])('%j is not', (id, problem) => {
    expect(describeCreditorIdProblem(id)).toMatch(problem);
    expect(describeCreditorIdProblem(id)).not.toContain('0999');
  });
});

describe('the SEPA set', () => {
  it('has every character of the guidelines, and no other of ASCII', () => {
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
    const allowed = ascii.filter((character) => findCharactersOutsideSepa(character).length === 0);
    expect(allowed.join('')).toBe(" '()+,-./0123456789:?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  });

  // cspell:disable
  it.each([
    ['Finnish', 'Mäkinen Öljy', 'Makinen Oljy'],
    ['German', 'Jürgen Groß, Ärzte', 'Jurgen Gros, Arzte'],
    ['Swedish', 'Åsa Sjöström', 'Asa Sjostrom'],
    ['Danish and Norwegian', 'Ærø, Bjørn Åse', 'Aro, Bjorn Ase'],
    ['Icelandic', 'Þór Guðmundsson', 'Tor Gudmundsson'],
    ['Estonian', 'Õie Jõgi', 'Oie Jogi'],
    ['Latvian', 'Jānis Bērziņš', 'Janis Berzins'],
    ['Lithuanian', 'Žydrūnas Čiurlionis', 'Zydrunas Ciurlionis'],
    ['Polish', 'Łukasz Żółć', 'Lukasz Zolc'],
    ['Czech', 'Jiří Dvořák', 'Jiri Dvorak'],
    ['Hungarian', 'Gyöngyössy Ödön, Fűtő', 'Gyongyossy Odon, Futo'],
    ['Romanian', 'Ștefan Țăran', 'Stefan Taran'],
    ['Maltese', 'Ġorġ Għawdex, Ħal', 'Gorg Ghawdex, Hal'],
    ['French', 'Cœur & Œuvre', 'Cour + Ouvre'],
    ['Turkish', 'İbrahim Işık', 'Ibrahim Isik'],
    ['Greek', 'Θεόδωρος Ψωμάς, Ξάνθη', 'THeodoros PSomas, Xanthi'],
    ['Bulgarian', 'Щерьо Жеков, София', 'SHTeryo ZHekov, Sofiya'],
    ['signs', '5 € @ 10 % [a] {b} c_d~e\\f|g; ¿h? `i', "5 E (at) 10 . (a) (b) c-d-e/f/g, ?h? 'i"],
    ['other signs', '“ink” – <a> "b" …', '.ink. . .a. .b. .'],
    // cspell:enable
    ['white space', 'ink\n\u00A0nibs', 'ink nibs'],
    ['letters that are written as two characters', 'Ma\u0308kinen', 'Makinen'], // cspell:disable-line
    // What is left would be another name.
    ['letters without an equivalent', '日本', null],
    ['Ukrainian', 'Київ', null],
    ['Vietnamese', 'Nguyễn', null], // cspell:disable-line
  ])('is reached as the EPC converts it: %s', (_, text, converted) => {
    expect(toSepaCharacters(text)).toBe(converted);
  });

  it('has every suggestion', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 50 }), (text) => {
        expect(findCharactersOutsideSepa(toSepaCharacters(text) ?? '')).toEqual([]);
      }),
    );
  });
});
