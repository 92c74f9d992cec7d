import { calcCheckDigits } from './mod97.ts';
import {
  type Positions,
  type RegistryRow,
  registryRows,
  territories,
  territoriesOutsideSepa,
  unregisteredRows,
} from './registry-table.ts';

/** First and last position in the BBAN, from 1, inclusive. */
export interface Span {
  first: number;
  last: number;
}

/** The IBAN format of a country or territory. */
export interface CountryFormat {
  /** The first two characters of the IBAN: ISO 3166-1 alpha-2, or XK for Kosovo. */
  country: string;
  /** The country whose IBANs the banks of a territory use (FR for MQ); null for countries. */
  parent: string | null;
  /** In SWIFT notation: k!n is k digits, k!a is k capital letters, k!c is k letters or digits. */
  format: string;
  /** Matches a whole IBAN; one group for the check digits and one per segment. */
  regex: RegExp;
  /** Length of a whole IBAN. */
  length: number;
  /** Whether it is a SEPA scheme country. */
  sepa: boolean;
  /** A valid published IBAN with a fictitious account. */
  example: string;
  bankCode: Span;
  branch: Span | null;
  nationalCheckDigits: Span | null;
  /** Codes of the territories whose banks use these IBANs. */
  territories: readonly string[];
}

/** The 89 countries of the registry by code, without territories. */
export function countryFormats(): readonly CountryFormat[] {
  return countries;
}

/**
 * The format of a country or territory, by its code in capitals; null if it has no IBANs.
 * @example
 * findCountryFormat('NO').format // => 'NO2!n4!n6!n1!n'
 * findCountryFormat('MQ').parent // => 'FR'
 */
export function findCountryFormat(code: string): CountryFormat | null {
  return formatsByCode.get(code) ?? null;
}

/** What is known of every IBAN format; where the bank code is, only of those in the registry. */
export type IbanFormat = Pick<CountryFormat, 'country' | 'format' | 'regex' | 'length'>;

/**
 * The format of numbers like IBANs that banks of a country use, although it is not in the SWIFT registry; null if none are known. Where
 * its bank code and branch are is not published.
 * @example
 * findUnregisteredFormat('MA').length // => 28
 * findUnregisteredFormat('FR') // => null
 */
export function findUnregisteredFormat(code: string): IbanFormat | null {
  return unregisteredFormats.get(code) ?? null;
}

/**
 * The type of each character after the country code: n for a digit, a for a letter, c for either.
 * @example
 * characterTypes('NO2!n4!n6!n1!n') // => 'nnnnnnnnnnnnn'
 */
export function characterTypes(format: string): string {
  const segments = format.slice(2).matchAll(/(\d+)!([nac])/g);
  return Array.from(segments, ([, count, type = '']) => type.repeat(Number(count))).join('');
}

const segmentCharacters: Readonly<Record<string, string>> = { n: '\\d', a: '[A-Z]', c: '[A-Za-z0-9]' };

const countries: readonly CountryFormat[] = registryRows.map(readRow);

const formatsByCode: ReadonlyMap<string, CountryFormat> = new Map(
  countries
    .flatMap((parent) => [parent, ...parent.territories.map((code) => formatOfTerritory(code, parent))])
    .map((format) => [format.country, format]),
);

function readRow([format, example, sepa, bankCode, branch, nationalCheckDigits]: RegistryRow): CountryFormat {
  const country = format.slice(0, 2);
  return {
    country,
    parent: null,
    format,
    regex: toRegex(format),
    length: example.length,
    sepa: sepa === 'SEPA',
    example,
    bankCode: { first: bankCode[0], last: bankCode[1] },
    branch: toSpan(branch),
    nationalCheckDigits: toSpan(nationalCheckDigits),
    territories: territories.get(country) ?? [],
  };
}

/** The check digits cover the country code, so the example needs its own. */
function formatOfTerritory(country: string, parent: CountryFormat): CountryFormat {
  const format = country + parent.format.slice(2);
  const bban = parent.example.slice(4);
  return {
    ...parent,
    country,
    parent: parent.country,
    format,
    regex: toRegex(format),
    sepa: parent.sepa && !territoriesOutsideSepa.has(country),
    example: country + calcCheckDigits(country, bban) + bban,
    territories: [],
  };
}

/** Matches a whole IBAN of a format in SWIFT notation; one group per segment. */
export function toRegex(format: string): RegExp {
  const groups = format.slice(2).replace(/(\d+)!([nac])/g, (_, count: string, kind: string) => {
    return `(${segmentCharacters[kind]}{${count}})`;
  });
  return new RegExp(`^${format.slice(0, 2)}${groups}$`);
}

const unregisteredFormats: ReadonlyMap<string, IbanFormat> = new Map(
  unregisteredRows.flatMap(([countries, bban]) =>
    countries.split(' ').map((country) => [country, createFormat(country, bban)] as const),
  ),
);

function createFormat(country: string, bban: string): IbanFormat {
  const format = `${country}2!n${bban}`;
  return { country, format, regex: toRegex(format), length: country.length + characterTypes(format).length };
}

function toSpan(positions: Positions | null | undefined): Span | null {
  return positions ? { first: positions[0], last: positions[1] } : null;
}
