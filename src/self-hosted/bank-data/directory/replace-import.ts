import type { BankEntry } from '../../../bank-lists/listed-bank.ts';
import { ConfigError } from '../../../errors.ts';
import { checkDataFolder } from '../../../stores/data-folder.ts';
import { ImportError } from './import-error.ts';
import {
  type BankImport,
  bankKey,
  banksOf,
  hasImportStore,
  type ImportStore,
  importKey,
  importStorePath,
  openImportStore,
  revisionKey,
} from './import-store.ts';

interface Replacement {
  country: string;
  /** The publisher of the file. */
  source: string;
  /** ISO date of the import. */
  date: string;
  entries: Iterable<BankEntry>;
}

/**
 * Replaces the imported directory of one country in a single transaction: readers see either the whole old one or the
 * whole new one, even if this process is killed. Creates the data folder if it is missing.
 * @throws ConfigError if the data folder cannot be written or the file in it is not a store; ImportError if writing fails
 */
export async function replaceImport(dataDir: string, replacement: Replacement): Promise<void> {
  const path = importStorePath(dataDir);
  try {
    checkDataFolder(dataDir);
    // Throws if the file is not a store; a missing one is created.
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
  for (const key of [...store.getKeys(banksOf(country))]) store.removeSync(key);
  for (const { bankCode, name, zip, city, bic } of entries) {
    store.putSync(bankKey(country, bankCode), [name, zip, city, bic]);
  }
  const revision = ((store.get(revisionKey) as number | undefined) ?? 0) + 1;
  store.putSync(importKey(country), { source, date, revision } satisfies BankImport);
  store.putSync(revisionKey, revision);
}
