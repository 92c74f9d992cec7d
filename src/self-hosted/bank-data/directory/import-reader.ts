import type { BankEntry } from '../../../bank-lists/listed-bank.ts';
import {
  type BankImport,
  everyBankOf,
  everyImport,
  hasImportStore,
  type ImportStore,
  importStorePath,
  openImportStore,
  REVISION,
  type StoredBank,
} from './import-store.ts';

/** The imported directories as they stand on disk. */
export interface ImportReader {
  /** Looks at what was committed last, also by other processes; nothing changes until it is called again. */
  refresh(): void;
  /** By country code. */
  imports(): ReadonlyMap<string, BankImport>;
  entries(country: string): BankEntry[];
  close(): Promise<void>;
}

/**
 * Reads the imported directories of a data folder, if there are any: it makes neither folder nor file, and looks again
 * at each `refresh`.
 * @throws ConfigError where the file in the data folder is not a store
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
      // Without this, what another process committed shows up at some later turn of the event loop only.
      store.resetReadTxn();
      const latest = (store.get(REVISION) as number | undefined) ?? 0;
      if (latest === revision) return;
      revision = latest;
      imports = new Map(
        Array.from(store.getRange(everyImport), ({ key, value }) => [key[1] ?? '', value as BankImport]),
      );
    },
    imports: () => imports,
    entries(country) {
      if (store === null) return [];
      return Array.from(store.getRange(everyBankOf(country)), ({ key, value }) => {
        const [name, zip, city, bic] = value as StoredBank;
        return { bankCode: key[2] ?? '', name, zip, city, bic };
      });
    },
    close: async () => store?.close(),
  };
  reader.refresh();
  return reader;
}
