import { mkdir } from 'node:fs/promises';
import type { BankEntry } from '../../../bank-lists/listed-bank.ts';
import { ConfigError } from '../../../errors.ts';
import { ImportError } from './import-error.ts';
import {
  type BankImport,
  bankKey,
  everyBankOf,
  hasImportStore,
  type ImportStore,
  importKey,
  importStorePath,
  openImportStore,
  REVISION,
} from './import-store.ts';

interface Replacement {
  country: string;
  /** Who published the file. */
  source: string;
  /** ISO date of the import. */
  date: string;
  entries: Iterable<BankEntry>;
}

/**
 * Replaces the imported directory of one country in a single transaction: whoever reads sees all of the old one or all
 * of the new one, also if this process dies half-way. Makes the data folder where there is none.
 * @throws ImportError where the data folder cannot be written, ConfigError where it holds something else
 */
export async function replaceImport(dataDir: string, replacement: Replacement): Promise<void> {
  const path = importStorePath(dataDir);
  try {
    await mkdir(dataDir, { recursive: true });
    // Refuses what is no store; where there is nothing, one is made.
    hasImportStore(path);
    const store = openImportStore(path, { readOnly: false });
    try {
      store.transactionSync(() => writeImport(store, replacement));
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof Error && 'code' in error)) throw error;
    throw new ImportError(`${path} cannot be written (${error.message})`);
  }
}

function writeImport(store: ImportStore, { country, source, date, entries }: Replacement): void {
  for (const key of [...store.getKeys(everyBankOf(country))]) store.removeSync(key);
  for (const { bankCode, name, zip, city, bic } of entries) {
    store.putSync(bankKey(country, bankCode), [name, zip, city, bic]);
  }
  const revision = ((store.get(REVISION) as number | undefined) ?? 0) + 1;
  store.putSync(importKey(country), { source, date, revision } satisfies BankImport);
  store.putSync(REVISION, revision);
}
