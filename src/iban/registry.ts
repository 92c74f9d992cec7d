import { calcCheckDigits } from './mod97.ts';
import {
  accounts,
  type Positions,
  type RegistryRow,
  registryRows,
  TERRITORIES,
  territoriesOutsideSepa,
} from './registry-table.ts';

/** First and last position inside the BBAN, counted from 1, both included. */
export interface Span {
  first: number;
  last: number;
}

/** How one country writes its IBANs. */
export interface CountryFormat {
  /** The first two characters of the IBAN: ISO 3166-1 alpha-2, and XK for Kosovo. */
  country: string;
  /** The country whose format a territory uses (FR for MQ); null for the countries of the registry. */
  parent: string | null;
  /** In SWIFT notation: k!n is k digits, k!a is k capital letters, k!c is k letters or digits. */
  format: string;
  /** The same as a regular expression for a whole IBAN: one group for the check digits, one per segment. */
  regex: RegExp;
  /** Characters of a whole IBAN. */
  length: number;
  /** Whether payments from and to it go through SEPA. */
  sepa: boolean;
  /** A published IBAN, valid, whose account is made up. */
  example: string;
  bankCode: Span;
  branch: Span | null;
  nationalCheckDigits: Span | null;
  /** Null where the account is simply the BBAN after bank code and branch, without the national check digits. */
  account: Span | null;
  /** Codes of the territories that use this format under their own country code. */
  territories: readonly string[];
}

/** The 89 countries of the registry in the order of their codes, without territories. */
export function countryFormats(): readonly CountryFormat[] {
  return COUNTRIES;
}

/** The format behind a country code in capitals, territories included; null where there are no IBANs. */
export function findCountryFormat(code: string): CountryFormat | null {
  return formatsByCode.get(code) ?? null;
}

const segmentCharacters: Readonly<Record<string, string>> = { n: '\\d', a: '[A-Z]', c: '[A-Za-z0-9]' };

const COUNTRIES: readonly CountryFormat[] = registryRows.map(readRow);

const formatsByCode: ReadonlyMap<string, CountryFormat> = new Map(
  COUNTRIES.flatMap((parent) => [parent, ...parent.territories.map((code) => formatOfTerritory(code, parent))]).map(
    (format) => [format.country, format],
  ),
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
    account: toSpan(accounts.get(country)),
    territories: TERRITORIES.get(country) ?? [],
  };
}

/** The country code is part of what the check digits guard, so the example gets its own. */
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

function toRegex(format: string): RegExp {
  const groups = format.slice(2).replace(/(\d+)!([nac])/g, (_, count: string, kind: string) => {
    return `(${segmentCharacters[kind]}{${count}})`;
  });
  return new RegExp(`^${format.slice(0, 2)}${groups}$`);
}

function toSpan(positions: Positions | null | undefined): Span | null {
  return positions ? { first: positions[0], last: positions[1] } : null;
}
