import { checkDataFolder } from '../../base/data-folder.ts';
import { ConfigError } from '../../base/errors.ts';
import {
  type BankImport,
  type EntryKeys,
  hasImportStore,
  type ImportKeys,
  type ImportKind,
  type ImportStore,
  importKeys,
  importStorePath,
  openImportStore,
  type StoredBank,
  type StoredEntry,
} from '../imported-lists.ts';
import { type BankEntry, countBanks } from '../listed-bank.ts';
import type { Participants, PaymentScheme } from '../scheme-registers.ts';
import { ImportError } from './files/bank-file.ts';

interface Replacement extends Omit<BankImport, 'revision'> {
  country: string;
  entries: Iterable<BankEntry>;
  check?: Check;
}

interface RegisterReplacement extends Omit<BankImport, 'revision'> {
  scheme: PaymentScheme;
  participants: Participants;
  check?: Check;
}

/**
 * Throws to change nothing. Runs within the transaction, so no other process imports in between.
 * @param replaced the import that is replaced; null without one
 */
type Check = (replaced: PresentList | null) => void;

/** The list of a country, or the register of a scheme, before an import. */
export interface PresentList {
  /** Number of banks, without branches, or of participants. */
  size: number;
  /** ISO date; empty without a list. */
  date: string;
}

/**
 * Replaces the imported directory of one country in a single transaction: readers see either the whole old one or the
 * whole new one, even if this process is killed. The old one is kept. Creates the data folder if it is missing.
 * @throws ConfigError if the data folder cannot be written or the file in it is not a store; ImportError if writing fails;
 * what `check` throws
 */
export function replaceImport(dataDir: string, { country, entries, ...replacement }: Replacement): Promise<void> {
  const count = (ids: readonly string[]) =>
    countBanks(
      country,
      ids.map((bankCode) => ({ bankCode })),
    );
  return replace(dataDir, importKeys('banks', country), { ...replacement, count, entries: storedBanks(entries) });
}

/** Replaces the imported register of one scheme, as `replaceImport` does the directory of a country. @throws as `replaceImport` */
export function replaceRegister(
  dataDir: string,
  { scheme, participants, ...replacement }: RegisterReplacement,
): Promise<void> {
  const entries = Array.from(participants, ([id, participations]) => ({ id, value: [...participations] }));
  return replace(dataDir, importKeys('participants', scheme), { ...replacement, count: (ids) => ids.length, entries });
}

/**
 * Exchanges an imported directory or register with the one that it replaced, so that a second call undoes the first. If it
 * replaced none, the list in the package is in use again.
 * @returns the numbers of entries
 * @throws as `replaceImport`; ImportError if there was no import
 */
export async function undoImport(
  dataDir: string,
  kind: ImportKind,
  of: string,
): Promise<{ before: number; now: number }> {
  const keys = importKeys(kind, of);
  return changeStore(dataDir, (store) => {
    const [undone, restored] = [takeImport(store, keys.current), takeImport(store, keys.previous)];
    if (undone.description === null && restored.description === null) {
      throw new ImportError(`no import of ${of} can be undone`);
    }
    putImport(store, keys.previous, undone);
    putImport(store, keys.current, { ...restored, description: renew(store, keys, restored.description) });
    return { before: undone.entries.length, now: restored.entries.length };
  });
}

interface NewImport extends Omit<BankImport, 'revision'> {
  entries: StoredImport['entries'];
  check?: Check;
  count: (ids: readonly string[]) => number;
}

function replace(dataDir: string, keys: ImportKeys, { entries, check, count, ...description }: NewImport) {
  return changeStore(dataDir, (store) => {
    const replaced = takeImport(store, keys.current);
    const { date } = replaced.description ?? {};
    check?.(date === undefined ? null : { size: count(replaced.entries.map(({ id }) => id)), date });
    takeImport(store, keys.previous);
    putImport(store, keys.previous, replaced);
    putImport(store, keys.current, { entries, description: renew(store, keys, description) });
  });
}

async function changeStore<Result>(dataDir: string, change: (store: ImportStore) => Result): Promise<Result> {
  const path = importStorePath(dataDir);
  try {
    checkDataFolder(dataDir);
    // Throws if the file is not a store; a missing one is created.
    hasImportStore(path);
    const store = openImportStore(path, { readOnly: false });
    try {
      return store.transactionSync(() => change(store));
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof Error && 'code' in error)) throw error;
    throw new ImportError(`${path} cannot be written (${error.message})`);
  }
}

interface StoredImport {
  /** Null without an import. */
  description: BankImport | null;
  entries: Iterable<{ id: string; value: StoredEntry }>;
}

interface TakenImport extends StoredImport {
  entries: readonly { id: string; value: StoredEntry }[];
}

/** The description with the next revision: readers read all imports again when it changes. */
function renew(store: ImportStore, keys: ImportKeys, description: Omit<BankImport, 'revision'> | null) {
  const revision = ((store.get(keys.revision) as number | undefined) ?? 0) + 1;
  store.putSync(keys.revision, revision);
  return description && { ...description, revision };
}

/** Reads and removes an import. */
function takeImport(store: ImportStore, keys: EntryKeys): TakenImport {
  const description = (store.get(keys.description) as BankImport | undefined) ?? null;
  const entries = Array.from(store.getRange(keys.entries), ({ key, value }) => ({
    id: key[2] ?? '',
    value: value as StoredEntry,
  }));
  for (const { id } of entries) store.removeSync(keys.entry(id));
  store.removeSync(keys.description);
  return { description, entries };
}

function putImport(store: ImportStore, keys: EntryKeys, { description, entries }: StoredImport): void {
  for (const { id, value } of entries) store.putSync(keys.entry(id), value);
  if (description) store.putSync(keys.description, description);
}

function* storedBanks(entries: Iterable<BankEntry>): Generator<{ id: string; value: StoredBank }> {
  for (const { bankCode, name, zip, city, bic, accountCheckMethod = '', ibanRule = '' } of entries) {
    const value: StoredBank = [name, zip, city, bic];
    if (accountCheckMethod || ibanRule) value.push(accountCheckMethod);
    if (ibanRule) value.push(ibanRule);
    yield { id: bankCode, value };
  }
}
