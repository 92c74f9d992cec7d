import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { checkLmdbFile, createLmdbFiles } from '../base/lmdb-file.ts';
import type { BankEntry } from './listed-bank.ts';
import { type Participants, type Participation, type PaymentScheme, paymentSchemes } from './scheme-registers.ts';

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
export type StoredBank = [name: string, zip: string, city: string, bic: string, accountCheckMethod?: string];

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

/** The banks of a country, by bank code. */
export function bankImportKeys(country: string): ImportKeys {
  return createImportKeys({ name: 'import', entryName: 'bank', of: country, revision: revisionKey });
}

/** The participants of a scheme, by BIC. Their own revision: an import does not change the answers about banks. */
export function registerImportKeys(scheme: PaymentScheme): ImportKeys {
  return createImportKeys({ name: 'register', entryName: 'participant', of: scheme, revision: registerRevisionKey });
}

const revisionKey = 'revision';
const registerRevisionKey = 'register revision';

interface ImportNames {
  name: string;
  entryName: string;
  of: string;
  revision: string;
}

function createImportKeys({ name, entryName, of, revision }: ImportNames): ImportKeys {
  const keys = (prefix: string): EntryKeys => {
    const entry = (id: string) => [prefix + entryName, of, id];
    return { description: [prefix + name, of], entry, entries: { start: entry(''), end: entry('\uffff') } };
  };
  return { current: keys(''), previous: keys('previous '), revision };
}

/** The key range of all imports in use. */
const allImports = { start: ['import', ''], end: ['import', '\uffff'] };

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
  /** By scheme, in the order of `paymentSchemes`. */
  registers(): ReadonlyMap<PaymentScheme, BankImport>;
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
  let imports: ReadonlyMap<string, BankImport> = new Map();
  let revision = 0;
  let registers: ReadonlyMap<PaymentScheme, BankImport> = new Map();
  let registerRevision = 0;

  const reader: ImportReader = {
    refresh() {
      if (store === null && hasImportStore(path)) store = openImportStore(path, { readOnly: true });
      if (store === null) return;
      // Without this, commits of other processes become visible only at a later turn of the event loop.
      store.resetReadTxn();
      const latest = (store.get(revisionKey) as number | undefined) ?? 0;
      if (latest !== revision) {
        revision = latest;
        imports = new Map(
          Array.from(store.getRange(allImports), ({ key, value }) => [key[1] ?? '', value as BankImport]),
        );
      }
      const latestRegister = (store.get(registerRevisionKey) as number | undefined) ?? 0;
      if (latestRegister !== registerRevision) {
        registerRevision = latestRegister;
        registers = readRegisters(store);
      }
    },
    revision: () => revision,
    imports: () => imports,
    entries(country) {
      if (store === null) return [];
      return Array.from(store.getRange(bankImportKeys(country).current.entries), ({ key, value }) => {
        const [name, zip, city, bic, accountCheckMethod] = value as StoredBank;
        return { bankCode: key[2] ?? '', name, zip, city, bic, ...(accountCheckMethod && { accountCheckMethod }) };
      });
    },
    registers: () => registers,
    participants(scheme) {
      if (store === null) return new Map();
      const entries = store.getRange(registerImportKeys(scheme).current.entries);
      return new Map(Array.from(entries, ({ key, value }) => [key[2] ?? '', value as Participation[]]));
    },
    close: async () => store?.close(),
  };
  reader.refresh();
  return reader;
}

function readRegisters(store: ImportStore): Map<PaymentScheme, BankImport> {
  const found = paymentSchemes.map(
    (scheme) => [scheme, store.get(registerImportKeys(scheme).current.description) as BankImport | undefined] as const,
  );
  return new Map(found.flatMap(([scheme, description]) => (description ? [[scheme, description]] : [])));
}
