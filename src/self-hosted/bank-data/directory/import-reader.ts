import type { BankEntry } from '../../../bank-lists/listed-bank.ts';
import {
  allImports,
  type BankImport,
  banksOf,
  hasImportStore,
  type ImportStore,
  importStorePath,
  openImportStore,
  revisionKey,
  type StoredBank,
} from './import-store.ts';

/** The imported directories on disk. */
interface ImportReader {
  /** Reads the latest commit, also of other processes; the content does not change until the next call. */
  refresh(): void;
  /** Increases with each import and each undone import. */
  revision(): number;
  /** By country code. */
  imports(): ReadonlyMap<string, BankImport>;
  entries(country: string): BankEntry[];
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

  const reader: ImportReader = {
    refresh() {
      if (store === null && hasImportStore(path)) store = openImportStore(path, { readOnly: true });
      if (store === null) return;
      // Without this, commits of other processes become visible only at a later turn of the event loop.
      store.resetReadTxn();
      const latest = (store.get(revisionKey) as number | undefined) ?? 0;
      if (latest === revision) return;
      revision = latest;
      imports = new Map(
        Array.from(store.getRange(allImports), ({ key, value }) => [key[1] ?? '', value as BankImport]),
      );
    },
    revision: () => revision,
    imports: () => imports,
    entries(country) {
      if (store === null) return [];
      return Array.from(store.getRange(banksOf(country)), ({ key, value }) => {
        const [name, zip, city, bic] = value as StoredBank;
        return { bankCode: key[2] ?? '', name, zip, city, bic };
      });
    },
    close: async () => store?.close(),
  };
  reader.refresh();
  return reader;
}
