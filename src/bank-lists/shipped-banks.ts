import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findCountryFormat } from '../iban/registry.ts';
import type { ListedBank } from './listed-bank.ts';

/** The lists that come with npm packages. None of them has a zip code or a city. */
export interface ShippedBanks {
  countries: readonly string[];
  /** Changes when the list of a country does, which for Germany happens at a date that the package names. */
  edition(country: string): string;
  /** In no order; empty for a country without a list. A territory has none, not even its parent's. */
  banks(country: string): ListedBank[];
}

/** Names and BICs for Germany (quarterly), BICs of 2024 for six other countries. Read when asked for. */
export function createShippedBanks(now: () => Date): ShippedBanks {
  const next: NextGermanBanks = readJson(germanFolder, 'next.json');
  const nextIsValid = () => now() >= new Date(next.valid);

  return {
    countries: COUNTRIES,
    edition: (country) => (country === 'DE' && nextIsValid() ? next.valid : ''),
    banks(country) {
      if (!COUNTRIES.includes(country)) return [];
      return country === 'DE' ? germanBanks(nextIsValid() ? next : null) : listedBics(country);
    },
  };
}

const COUNTRIES = ['AT', 'BE', 'DE', 'ES', 'FR', 'LU', 'NL'];

const germanSource = 'Deutsche Bundesbank, via bankdata-germany';
/** Since when the list of `bankdata-germany` 2.2602 is valid; the package tells this in its README only. */
const germanDate = '2026-06-08';
const listedBicsSource = 'national bank directories, via iban-to-bic';
/** When `iban-to-bic` 1.4.0 was released, with lists fetched that month. */
const listedBicsDate = '2024-09-23';

type GermanBanks = Readonly<Record<string, readonly [name: string, bic?: string]>>;

interface NextGermanBanks {
  /** From when on `remove` and `upsert` change the current list. */
  valid: string;
  remove: readonly string[];
  upsert: GermanBanks;
}

const require = createRequire(import.meta.url);
/** Read by path, because the package exports look-ups only, and no list. */
const germanFolder = join(dirname(require.resolve('bankdata-germany')), 'data');
const listedBicsFolder = join(dirname(require.resolve('iban-to-bic/package.json')), 'datasets');

/**
 * The older list knows some German bank codes that were deleted since; accounts may outlive them for a while.
 */
function germanBanks(next: NextGermanBanks | null): ListedBank[] {
  const current: GermanBanks = readJson(germanFolder, 'current.json');
  const banks = new Map(listedBics('DE').map((bank) => [bank.bankCode, bank]));
  const add = (list: GermanBanks, date: string) => {
    for (const [bankCode, [name, bic]] of Object.entries(list)) {
      const known = banks.get(bankCode)?.bic ?? '';
      banks.set(bankCode, {
        ...noAddress,
        country: 'DE',
        bankCode,
        name,
        bic: bic ?? known,
        source: germanSource,
        date,
      });
    }
  };
  add(current, germanDate);
  if (next) {
    for (const bankCode of next.remove) banks.delete(bankCode);
    add(next.upsert, next.valid.slice(0, 10));
  }
  return [...banks.values()];
}

function listedBics(country: string): ListedBank[] {
  const bics: Readonly<Record<string, string>> = readJson(listedBicsFolder, `${country.toLowerCase()}.json`);
  const { first, last } = findCountryFormat(country)?.bankCode ?? { first: 1, last: 0 };
  return (
    Object.entries(bics)
      // Among the Spanish codes are a few tax numbers, which stand in no IBAN.
      .filter(([bankCode]) => bankCode.length === last - first + 1)
      .map(([bankCode, bic]) => ({
        ...noAddress,
        country,
        bankCode,
        name: '',
        bic,
        source: listedBicsSource,
        date: listedBicsDate,
      }))
  );
}

const noAddress = { zip: '', city: '' };

/** Read and parsed at each call, so that nothing but the index of a country stays in memory. */
function readJson<Content>(folder: string, file: string): Content {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}
