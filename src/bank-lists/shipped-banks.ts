import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findCountryFormat } from '../iban/registry.ts';
import type { ListedBank } from './listed-bank.ts';

/** The bank lists in npm packages. They contain neither zip codes nor cities. */
interface ShippedBanks {
  countries: readonly string[];
  /** Changes whenever the list of a country does: for Germany at a date in the package, for others never. */
  edition(country: string): string;
  /** Changes whenever the list of any country does. */
  version(): string;
  /** Unsorted; empty for a country without a list. Territories have none, and do not use the list of their parent. */
  banks(country: string): ListedBank[];
  /** The bank codes of `banks`, which take a tenth of the time and memory. */
  bankCodes(country: string): ReadonlySet<string>;
}

/** Names and BICs for Germany (quarterly), BICs of 2024 for six other countries. Lists are read when needed. */
export function createShippedBanks(): ShippedBanks {
  let next: NextGermanBanks | undefined;
  const validNext = () => {
    next ??= readJson<NextGermanBanks>(germanFile('next.json'));
    return Date.now() >= Date.parse(next.valid) ? next : null;
  };

  return {
    countries,
    edition: (country) => (country === 'DE' && validNext()?.valid) || '',
    version: () => [germanDate, listedBicsDate, validNext()?.valid ?? ''].join('/'),
    banks(country) {
      if (!countries.includes(country)) return [];
      return country === 'DE' ? germanBanks(validNext()) : listedBics(country);
    },
    bankCodes(country) {
      if (!countries.includes(country)) return new Set();
      const listed = readBics(country).map(([bankCode]) => bankCode);
      return country === 'DE' ? germanBankCodes(listed, validNext()) : new Set(listed);
    },
  };
}

const countries = ['AT', 'BE', 'DE', 'ES', 'FR', 'LU', 'NL'];

const germanSource = 'Deutsche Bundesbank, via bankdata-germany';
/** First valid day of the list in `bankdata-germany` 2.2602; only the README of the package contains it. */
const germanDate = '2026-06-08';
const listedBicsSource = 'national bank directories, via iban-to-bic';
/** Release date of `iban-to-bic` 1.4.0, whose lists were fetched that month. */
const listedBicsDate = '2024-09-23';

type GermanBanks = Readonly<Record<string, readonly [name: string, bic?: string]>>;

interface NextGermanBanks {
  /** When `remove` and `upsert` start to apply to the current list. */
  valid: string;
  remove: readonly string[];
  upsert: GermanBanks;
}

const require = createRequire(import.meta.url);
/** Read by path, because the package exports lookups but no list. */
const germanFile = (name: string) => join(dirname(require.resolve('bankdata-germany')), 'data', name);
const listedBicsFile = (country: string) =>
  join(dirname(require.resolve('iban-to-bic/package.json')), 'datasets', `${country.toLowerCase()}.json`);

/** Includes bank codes of the older list that were deleted since: their accounts may still be in use. */
function germanBanks(next: NextGermanBanks | null): ListedBank[] {
  const current: GermanBanks = readJson(germanFile('current.json'));
  const banks = new Map(listedBics('DE').map((bank) => [bank.bankCode, bank]));
  const add = (list: GermanBanks, date: string) => {
    for (const [bankCode, [name, listedBic]] of Object.entries(list)) {
      const bic = listedBic ?? banks.get(bankCode)?.bic ?? '';
      banks.set(bankCode, { country: 'DE', bankCode, name, ...noAddress, bic, source: germanSource, date });
    }
  };
  add(current, germanDate);
  if (next) {
    for (const bankCode of next.remove) banks.delete(bankCode);
    add(next.upsert, next.valid.slice(0, 10));
  }
  return [...banks.values()];
}

function germanBankCodes(older: readonly string[], next: NextGermanBanks | null): ReadonlySet<string> {
  const codes = new Set([...older, ...Object.keys(readJson<GermanBanks>(germanFile('current.json')))]);
  for (const bankCode of next?.remove ?? []) codes.delete(bankCode);
  for (const bankCode of Object.keys(next?.upsert ?? {})) codes.add(bankCode);
  return codes;
}

function listedBics(country: string): ListedBank[] {
  const origin = { source: listedBicsSource, date: listedBicsDate };
  return readBics(country).map(([bankCode, bic]) => ({ country, bankCode, name: '', ...noAddress, bic, ...origin }));
}

/** BICs by bank code. */
function readBics(country: string): [bankCode: string, bic: string][] {
  const bics: Readonly<Record<string, string>> = readJson(listedBicsFile(country));
  const { first, last } = findCountryFormat(country)?.bankCode ?? { first: 1, last: 0 };
  // The Spanish list contains a few tax numbers.
  return Object.entries(bics).filter(([bankCode]) => bankCode.length === last - first + 1);
}

const noAddress = { zip: '', city: '' };

/** Parsed on every call, so that only the index of a country stays in memory. */
function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(file, 'utf8'));
}
