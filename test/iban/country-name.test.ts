import { describe, expect, it } from 'vitest';
import { countryCodes } from '../../src/iban/country-codes.ts';
import { countryName, findCountryCode } from '../../src/iban/country-name.ts';
import { allFormats } from '../support/ibans.ts';

/** The countries outside the registry whose banks use numbers like IBANs. */
const unregistered = 'AO BF BJ CF CG CI CM CV DZ GA GQ GW IR KM MA MG ML MZ NE SN TD TG'.split(' ');
const codes = [...allFormats.map(({ country }) => country), ...unregistered];

describe('the name of a country', () => {
  it.each([
    ['BA', 'Bosnia and Herzegovina'],
    ['CI', "Côte d'Ivoire"],
    ['CV', 'Cape Verde'],
    ['CZ', 'Czech Republic'],
    ['FK', 'Falkland Islands'],
    ['GB', 'United Kingdom'],
    ['IR', 'Iran'],
    ['MD', 'Moldova'],
    ['MF', 'Saint Martin'],
    ['MK', 'North Macedonia'],
    ['PS', 'Palestine'],
    ['RE', 'Réunion'],
    ['RU', 'Russia'],
    ['ST', 'São Tomé and Príncipe'],
    ['TR', 'Türkiye'],
    ['US', 'United States'],
    ['VA', 'Vatican City'],
    ['VG', 'British Virgin Islands'],
    ['XK', 'Kosovo'],
  ])('%s is %s, as people write it', (code, name) => {
    expect(countryName(code)).toBe(name);
  });

  it('is not a formal one for any country with IBANs', () => {
    const names = codes.map((code) => countryName(code));
    expect(names).not.toContain(null);
    // The Republic of the Congo has this name to distinguish it from the other Congo.
    const formal = /,|\(|^The |\b(?:Republic|State|Federation|Kingdom) of (?!the Congo)/;
    expect(names.filter((name) => formal.test(name ?? ''))).toEqual([]);
  });

  it('exists for every code, and is found again', () => {
    for (const code of countryCodes) expect(findCountryCode(countryName(code) ?? '')).toBe(code);
  });

  it('is null for anything else', () => {
    expect(countryName('QQ')).toBeNull();
    expect(countryName('')).toBeNull();
  });
});

describe('a country is found', () => {
  it.each([
    ['by its code, in any case', ' de ', 'DE'],
    ['by its name, in any case', 'moldova', 'MD'],
    ['without the accents of its name', 'Reunion', 'RE'],
    ['with an accent', 'RÉUNION', 'RE'],
    ['by its formal name', 'Moldova, Republic of', 'MD'],
    ['by another formal name', 'The Republic of North Macedonia', 'MK'],
    ['by a former name', 'Macedonia', 'MK'],
    ['by another usual name', 'Ivory Coast', 'CI'],
    ['by a name with a typographic apostrophe', 'Côte d\u2019Ivoire', 'CI'],
    ['by an abbreviation', 'USA', 'US'],
    ['by the name of a territory', 'jersey', 'JE'],
  ])('%s', (_, text, code) => {
    expect(findCountryCode(text)).toBe(code);
  });

  it.each(['', 'QQ', 'DEU', '276', 'Atlantis'])('not by "%s"', (text) => {
    expect(findCountryCode(text)).toBeNull();
  });
});
