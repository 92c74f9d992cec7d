import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { checkLmdbFile, createLmdbFiles } from '../base/lmdb-file.ts';
import type { BankEntry } from './listed-bank.ts';
import {
  type ListedRegister,
  type Participants,
  type Participation,
  type PaymentScheme,
  paymentSchemes,
} from './scheme-registers.ts';

/** The stored data of the import of one country, or of the register of one scheme. */
export interface BankImport {
  /** The publisher of the file. */
  source: string;
  /** ISO date of the list by its publisher; of the import, if the file has none. */
  date: string;
  /** ISO date of the last day of the list, by its publisher or by how often it is published; absent in imports before 0.2. */
  validUntil?: string;
  /** Whether the list has all bank codes in use; absent in imports before 0.2. */
  isComplete?: boolean;
  /** Increases with each import of any country, or of any scheme. */
  revision: number;
}

/** A bank, stored under its country and bank code. */
export type StoredBank = [
  name: string,
  zip: string,
  city: string,
  bic: string,
  accountCheckMethod?: string,
  ibanRule?: string,
];

/** All participations with a BIC are stored under their scheme and BIC of 11 characters. */
export type StoredEntry = StoredBank | Participation[];

export type ImportStore = RootDatabase<number | BankImport | StoredEntry, string | string[]>;

/** Where an import is stored. */
export interface ImportKeys {
  current: EntryKeys;
  /** Of the import that the last one replaced. */
  previous: EntryKeys;
  /** The key of the number of such imports. */
  revision: string;
}

export interface EntryKeys {
  /** The key of the `BankImport`. */
  description: string[];
  entry(id: string): string[];
  /** The key range of its entries. */
  entries: { start: string[]; end: string[] };
}

/** What can be imported. Each has its own revision: an import of participants does not change the answers about banks. */
const kinds = {
  /** The banks of a country, by bank code. */
  banks: { name: 'import', entryName: 'bank', revision: 'revision' },
  /** The participants of a payment scheme, by BIC. */
  participants: { name: 'register', entryName: 'participant', revision: 'register revision' },
} as const;

export type ImportKind = keyof typeof kinds;

/** @param of the country or scheme */
export function importKeys(kind: ImportKind, of: string): ImportKeys {
  const { name, entryName, revision } = kinds[kind];
  const keys = (prefix: string): EntryKeys => {
    const entry = (id: string) => [prefix + entryName, of, id];
    return { description: [prefix + name, of], entry, entries: { start: entry(''), end: entry('\uffff') } };
  };
  return { current: keys(''), previous: keys('previous '), revision };
}

/** The file name contains the version of the layout. */
export function importStorePath(dataDir: string): string {
  return join(dataDir, 'bank-directory-1.lmdb');
}

/** Opens a store, or creates it in an existing folder unless `readOnly`. @throws a file system error if the disk is full */
export function openImportStore(path: string, { readOnly }: { readOnly: boolean }): ImportStore {
  if (!readOnly && !hasImportStore(path)) createLmdbFiles(path, 0o644);
  // `require`, because loading it takes 50 ms, and a service without imports never needs it.
  const { open }: typeof import('lmdb') = require('lmdb');
  // Commits are flushed to disk before they resolve.
  return open({ path, readOnly, overlappingSync: false });
}

const require = createRequire(import.meta.url);

/** Whether there is a store; an empty file is one that another process is creating. @throws ConfigError if it is damaged */
export function hasImportStore(path: string): boolean {
  checkLmdbFile(path);
  return existsSync(path) && statSync(path).size > 0;
}

/** The imported directories on disk. */
interface ImportReader {
  /** Reads the latest commit, also of other processes; the content does not change until the next call. */
  refresh(): void;
  /** Increases with each import and each undone import. */
  revision(): number;
  /** By country code. */
  imports(): ReadonlyMap<string, BankImport>;
  entries(country: string): BankEntry[];
  /** In the order of `paymentSchemes`. */
  registers(): readonly ListedRegister[];
  participants(scheme: PaymentScheme): Participants;
  close(): Promise<void>;
}

/**
 * Reads the imported directories of a data folder. It creates neither folder nor file, but finds them at the next
 * `refresh`.
 * @throws ConfigError if the file in the data folder is not a store
 */
export function createImportReader(dataDir: string): ImportReader {
  const path = importStorePath(dataDir);
  let store: ImportStore | null = null;
  const latest: Record<ImportKind, Imports> = {
    banks: { revision: 0, imports: new Map() },
    participants: { revision: 0, imports: new Map() },
  };

  function refresh(): void {
    if (store === null && hasImportStore(path)) store = openImportStore(path, { readOnly: true });
    if (store === null) return;
    // Without this, commits of other processes become visible only at a later turn of the event loop.
    store.resetReadTxn();
    for (const kind of ['banks', 'participants'] as const) {
      const { name, revision: key } = kinds[kind];
      const revision = (store.get(key) as number | undefined) ?? 0;
      if (revision === latest[kind].revision) continue;
      const range = store.getRange({ start: [name, ''], end: [name, '\uffff'] });
      const imports = new Map(Array.from(range, ({ key, value }) => [key[1] ?? '', value as BankImport]));
      latest[kind] = { revision, imports };
    }
  }

  function readEntries<Entry extends StoredEntry>(kind: ImportKind, of: string): [id: string, entry: Entry][] {
    const range = store?.getRange(importKeys(kind, of).current.entries) ?? [];
    return Array.from(range, ({ key, value }) => [key[2] ?? '', value as Entry]);
  }

  refresh();
  return {
    refresh,
    revision: () => latest.banks.revision,
    imports: () => latest.banks.imports,
    entries: (country) =>
      readEntries<StoredBank>('banks', country).map(
        ([bankCode, [name, zip, city, bic, accountCheckMethod, ibanRule]]) => {
          const german = { ...(accountCheckMethod && { accountCheckMethod }), ...(ibanRule && { ibanRule }) };
          return { bankCode, name, zip, city, bic, ...german };
        },
      ),
    registers() {
      const { imports } = latest.participants;
      return paymentSchemes.flatMap((scheme) => {
        const found = imports.get(scheme);
        return found === undefined ? [] : [{ scheme, date: found.date, revision: found.revision }];
      });
    },
    participants: (scheme) => new Map(readEntries<Participation[]>('participants', scheme)),
    close: async () => store?.close(),
  };
}

interface Imports {
  revision: number;
  /** By country or scheme. */
  imports: ReadonlyMap<string, BankImport>;
}
