import { IBAN } from 'ibankit';
import { isValidIBAN } from 'ibantools';
import { expect, it } from 'vitest';
import { isValidIban } from '../../src/iban/iban.ts';
import { mod97 } from '../../src/iban/mod97.ts';
import { findNationalCheck } from '../../src/iban/national-checks.ts';
import { type CountryFormat, countryFormats, findCountryFormat } from '../../src/iban/registry.ts';
import { rounds } from '../support/random.ts';

/** Where two other libraries refuse IBANs that follow the registry, and why. */
const refused: Readonly<Record<string, string>> = {
  'ibantools BR': 'allows digits only in the bank code, as the registry did until June 2026',
  'ibantools BY': 'expects letters and digits at other positions',
  'ibantools DO': 'expects letters at the beginning',
  'ibantools MK': 'allows digits only',
  'ibantools NO': 'applies the check to accounts of group 00, which may have none',
  'ibantools PK': 'allows digits only',
  'ibantools PS': 'allows digits only',
  'ibankit BR': 'allows digits only in the bank code, as the registry did until June 2026',
  'ibankit GT': 'allows digits only',
  'ibankit LC': 'allows digits only',
  'ibankit NO': 'applies the check to accounts of group 00, which may have none',
  'ibankit OM': 'allows digits only',
  'ibankit UA': 'allows digits only',
  'ibankit YE': 'does not know the country, or has another format',
};

const libraries = { ibantools: isValidIBAN, ibankit: (iban: string) => IBAN.isValid(iban) };
const digits = '0123456789';
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

it('two other libraries accept generated IBANs, except those of a named list', () => {
  const formats = [...countryFormats()].filter(({ parent }) => parent === null);
  const next = createNumbers(7);
  const found = new Map<string, string>();
  let count = 0;
  for (let index = 0; index < rounds(2_000); index += 1) {
    const format = formats[index % formats.length];
    const iban = format && generate(format, next);
    if (!format || !iban) continue;
    count += 1;
    expect(isValidIban(iban), iban).toBe(true);
    for (const [name, isValid] of Object.entries(libraries)) {
      if (!isValid(iban)) found.set(`${name} ${format.country}`, iban);
    }
  }
  expect(count).toBeGreaterThan(rounds(1_900));
  expect([...found].filter(([name]) => refused[name] === undefined)).toEqual([]);
  // Few accounts of Norway belong to group 00.
  const missing = Object.keys(refused).filter((name) => !found.has(name) && !name.endsWith(' NO'));
  expect(missing).toEqual([]);
});

it('both accept the examples of the registry, except one of a named country', () => {
  const examples = [...countryFormats()].filter(({ parent }) => parent === null).map(({ example }) => example);
  expect(examples.length).toBeGreaterThan(80);
  for (const [name, isValid] of Object.entries(libraries)) {
    const refusedExamples = examples.filter((iban) => !isValid(iban)).map((iban) => `${name} ${iban.slice(0, 2)}`);
    expect(refusedExamples).toEqual(name === 'ibankit' ? ['ibankit YE'] : []);
  }
});

it.each(['JE90NWBK60161331926819', 'GF4120041010050500013M02606'])(
  'one refuses %s of a territory, we do not',
  (iban) => {
    expect(isValidIban(iban)).toBe(true);
    expect(Object.values(libraries).every((isValid) => isValid(iban))).toBe(false);
  },
);

it('both refuse a Norwegian account of group 00 without a check digit, which we do not', () => {
  expect(isValidIban('NO6778080066869')).toBe(true);
  for (const isValid of Object.values(libraries)) expect(isValid('NO6778080066869')).toBe(false);
});

/** Null for accounts that cannot have national check digits. */
function generate({ country, format }: CountryFormat, next: (limit: number) => number): string | null {
  const pick = (characters: string) => characters.charAt(next(characters.length));
  const kinds: Readonly<Record<string, string>> = { n: digits, a: letters, c: digits + letters };
  let bban = [...format.slice(5).matchAll(/(\d+)!([nac])/g)]
    .map(([, length, kind = '']) => Array.from({ length: Number(length) }, () => pick(kinds[kind] ?? '')).join(''))
    .join('');
  const check = findNationalCheck(country);
  if (check && check.covers?.(bban) !== false) {
    for (const { first, last, calc } of check.groups) {
      const right = calc(bban);
      if (right === null) return null;
      bban = bban.slice(0, first - 1) + right + bban.slice(last);
    }
  }
  expect(findCountryFormat(country)?.length).toBe(bban.length + 4);
  return `${country}${String(98 - mod97(`${country}00${bban}`, 4)).padStart(2, '0')}${bban}`;
}

/** The same numbers in each run. */
function createNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}
