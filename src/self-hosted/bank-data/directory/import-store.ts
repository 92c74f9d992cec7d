import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { hasLmdbFile } from '../../../stores/lmdb-file.ts';

/** What is kept about the import of one country. */
export interface BankImport {
  /** Who published the file. */
  source: string;
  /** ISO date of the import. */
  date: string;
  /** Grows with each import of whatever country. */
  revision: number;
}

/** A bank as it is kept under its country and bank code. */
export type StoredBank = [name: string, zip: string, city: string, bic: string];

export type ImportStore = RootDatabase<number | BankImport | StoredBank, string | string[]>;

/** The key of the number of imports so far. */
export const REVISION = 'revision';

export function importKey(country: string): string[] {
  return ['import', country];
}

export function bankKey(country: string, bankCode: string): string[] {
  return ['bank', country, bankCode];
}

export const everyImport = { start: importKey(''), end: importKey('\uffff') };

export function everyBankOf(country: string) {
  return { start: bankKey(country, ''), end: bankKey(country, '\uffff') };
}

/** The name holds the version of the layout: a later one gets a file of its own. */
export function importStorePath(dataDir: string): string {
  return join(dataDir, 'bank-directory-1.lmdb');
}

/** Opens a store; for writing also one that does not exist yet, in a folder that does. */
export function openImportStore(path: string, { readOnly }: { readOnly: boolean }): ImportStore {
  // `require`, because loading it takes 50 ms, and a service without imports never needs it.
  const { open }: typeof import('lmdb') = require('lmdb');
  // Committed means on the disk, not on its way there: an import may take a few milliseconds more.
  return open({ path, readOnly, overlappingSync: false });
}

const require = createRequire(import.meta.url);

/** Whether there is a store; an empty file is one that another process is just making. @throws ConfigError where it is damaged */
export function hasImportStore(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0 && hasLmdbFile(path);
}
