import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { checkLmdbFile, createLmdbFiles } from '../../../stores/lmdb-file.ts';

/** The stored data of the import of one country. */
export interface BankImport {
  /** The publisher of the file. */
  source: string;
  /** ISO date of the import. */
  date: string;
  /** Increases with each import of any country. */
  revision: number;
}

/** A bank, stored under its country and bank code. */
export type StoredBank = [name: string, zip: string, city: string, bic: string];

export type ImportStore = RootDatabase<number | BankImport | StoredBank, string | string[]>;

/** The key of the number of imports. */
export const revisionKey = 'revision';

export function importKey(country: string): string[] {
  return ['import', country];
}

export function bankKey(country: string, bankCode: string): string[] {
  return ['bank', country, bankCode];
}

/** The keys of the directory that the last import of a country replaced. */
export function previousImportKey(country: string): string[] {
  return ['previous import', country];
}

export function previousBankKey(country: string, bankCode: string): string[] {
  return ['previous bank', country, bankCode];
}

/** A key range. */
export const allImports = { start: importKey(''), end: importKey('\uffff') };

/** A key range. */
export function banksOf(country: string) {
  return { start: bankKey(country, ''), end: bankKey(country, '\uffff') };
}

/** A key range. */
export function previousBanksOf(country: string) {
  return { start: previousBankKey(country, ''), end: previousBankKey(country, '\uffff') };
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
