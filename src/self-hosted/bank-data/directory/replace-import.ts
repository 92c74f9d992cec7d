import {
  type BankImport,
  currentImport,
  hasImportStore,
  type ImportKeys,
  type ImportStore,
  importStorePath,
  openImportStore,
  previousImport,
  revisionKey,
  type StoredBank,
} from '../../../bank-lists/imported-lists.ts';
import { type BankEntry, countBanks } from '../../../bank-lists/listed-bank.ts';
import { ConfigError } from '../../../errors.ts';
import { checkDataFolder } from '../../../stores/data-folder.ts';
import { ImportError } from './files/bank-file.ts';

interface Replacement extends Omit<BankImport, 'revision'> {
  country: string;
  entries: Iterable<BankEntry>;
  /**
   * Throws to change nothing. Runs within the transaction, so no other process imports in between.
   * @param replaced the import that is replaced; null without one
   */
  check?: (replaced: PresentList | null) => void;
}

/** The list of a country before an import. */
export interface PresentList {
  /** Number of banks, without branches. */
  banks: number;
  /** ISO date; empty without a list. */
  date: string;
}

/**
 * Replaces the imported directory of one country in a single transaction: readers see either the whole old one or the
 * whole new one, even if this process is killed. The old one is kept. Creates the data folder if it is missing.
 * @throws ConfigError if the data folder cannot be written or the file in it is not a store; ImportError if writing fails;
 * what `check` throws
 */
export function replaceImport(dataDir: string, replacement: Replacement): Promise<void> {
  return changeStore(dataDir, (store) => writeImport(store, replacement));
}

/**
 * Exchanges the imported directory of a country with the one that it replaced, so that a second call undoes the first. If
 * it replaced none, the list in the package is in use again.
 * @returns false if there was no import of this country
 * @throws as `replaceImport`
 */
export async function undoImport(dataDir: string, country: string): Promise<boolean> {
  let isUndone = false;
  await changeStore(dataDir, (store) => {
    isUndone = exchangeImports(store, country);
  });
  return isUndone;
}

async function changeStore(dataDir: string, change: (store: ImportStore) => void): Promise<void> {
  const path = importStorePath(dataDir);
  try {
    checkDataFolder(dataDir);
    // Throws if the file is not a store; a missing one is created.
    hasImportStore(path);
    const store = openImportStore(path, { readOnly: false });
    try {
      store.transactionSync(() => change(store));
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof Error && 'code' in error)) throw error;
    throw new ImportError(`${path} cannot be written (${error.message})`);
  }
}

function writeImport(store: ImportStore, { country, entries, check, ...description }: Replacement): void {
  const keys = currentImport(country);
  const old = takeImport(store, keys);
  check?.(old.description && { banks: countBanks(country, old.banks), date: old.description.date });
  takeImport(store, previousImport(country));
  putImport(store, previousImport(country), old);
  for (const { bankCode, name, zip, city, bic, accountCheckMethod } of entries) {
    const bank: StoredBank = [name, zip, city, bic];
    if (accountCheckMethod) bank.push(accountCheckMethod);
    store.putSync(keys.bank(bankCode), bank);
  }
  store.putSync(keys.description, { ...description, revision: nextRevision(store) } satisfies BankImport);
}

function exchangeImports(store: ImportStore, country: string): boolean {
  const [undone, restored] = [takeImport(store, currentImport(country)), takeImport(store, previousImport(country))];
  if (undone.description === null && restored.description === null) return false;
  putImport(store, previousImport(country), undone);
  const revision = nextRevision(store);
  putImport(store, currentImport(country), {
    banks: restored.banks,
    description: restored.description && { ...restored.description, revision },
  });
  return true;
}

/** Readers read all imports again when it changes. */
function nextRevision(store: ImportStore): number {
  const revision = ((store.get(revisionKey) as number | undefined) ?? 0) + 1;
  store.putSync(revisionKey, revision);
  return revision;
}

interface StoredImport {
  /** Null without an import. */
  description: BankImport | null;
  banks: readonly { bankCode: string; bank: StoredBank }[];
}

/** Reads and removes an import. */
function takeImport(store: ImportStore, keys: ImportKeys): StoredImport {
  const description = (store.get(keys.description) as BankImport | undefined) ?? null;
  const banks = Array.from(store.getRange(keys.banks), ({ key, value }) => ({
    bankCode: key[2] ?? '',
    bank: value as StoredBank,
  }));
  for (const { bankCode } of banks) store.removeSync(keys.bank(bankCode));
  store.removeSync(keys.description);
  return { description, banks };
}

function putImport(store: ImportStore, keys: ImportKeys, { description, banks }: StoredImport): void {
  for (const { bankCode, bank } of banks) store.putSync(keys.bank(bankCode), bank);
  if (description) store.putSync(keys.description, description);
}
