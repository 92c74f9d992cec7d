import { checkDataFolder } from '../../base/data-folder.ts';
import { ConfigError } from '../../base/errors.ts';
import {
  type BankImport,
  bankImportKeys,
  type EntryKeys,
  hasImportStore,
  type ImportKeys,
  type ImportStore,
  importStorePath,
  openImportStore,
  registerImportKeys,
  type StoredBank,
  type StoredEntry,
} from '../imported-lists.ts';
import { type BankEntry, countBanks } from '../listed-bank.ts';
import type { Participation, PaymentScheme } from '../scheme-registers.ts';
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

interface RegisterReplacement {
  scheme: PaymentScheme;
  source: string;
  /** ISO date of the import. */
  date: string;
  /** By BIC of 11 characters. */
  participants: ReadonlyMap<string, readonly Participation[]>;
  /** As for the banks of a country. */
  check?: (replaced: PresentRegister | null) => void;
}

/** The register of a scheme before an import. */
export interface PresentRegister {
  participants: number;
  /** ISO date. */
  date: string;
}

/**
 * Replaces the imported directory of one country in a single transaction: readers see either the whole old one or the
 * whole new one, even if this process is killed. The old one is kept. Creates the data folder if it is missing.
 * @throws ConfigError if the data folder cannot be written or the file in it is not a store; ImportError if writing fails;
 * what `check` throws
 */
export function replaceImport(dataDir: string, replacement: Replacement): Promise<void> {
  const { country, entries, check, ...description } = replacement;
  return changeStore(dataDir, (store) => {
    const keys = bankImportKeys(country);
    const replaced = takeImport(store, keys.current);
    check?.(replaced.description && { banks: countBanks(country, banksOf(replaced)), date: replaced.description.date });
    writeImport(store, keys, { replaced, description, entries: storedBanks(entries) });
  });
}

/** Replaces the imported register of one scheme, as `replaceImport` does the directory of a country. @throws as `replaceImport` */
export function replaceRegister(dataDir: string, replacement: RegisterReplacement): Promise<void> {
  const { scheme, participants, check, ...description } = replacement;
  return changeStore(dataDir, (store) => {
    const keys = registerImportKeys(scheme);
    const replaced = takeImport(store, keys.current);
    check?.(replaced.description && { participants: replaced.entries.length, date: replaced.description.date });
    const entries = Array.from(participants, ([id, participations]) => ({ id, value: [...participations] }));
    writeImport(store, keys, { replaced, description, entries });
  });
}

/**
 * Exchanges the imported directory of a country with the one that it replaced, so that a second call undoes the first. If
 * it replaced none, the list in the package is in use again.
 * @returns false if there was no import of this country
 * @throws as `replaceImport`
 */
export async function undoImport(dataDir: string, country: string): Promise<boolean> {
  return (await undo(dataDir, bankImportKeys(country))) !== null;
}

/**
 * Exchanges the imported register of a scheme with the one that it replaced, or with none.
 * @returns the numbers of participants; null if there was no import of this scheme
 * @throws as `replaceImport`
 */
export function undoRegister(dataDir: string, scheme: PaymentScheme): Promise<Sizes | null> {
  return undo(dataDir, registerImportKeys(scheme));
}

interface Sizes {
  before: number;
  now: number;
}

async function undo(dataDir: string, keys: ImportKeys): Promise<Sizes | null> {
  let sizes: Sizes | null = null;
  await changeStore(dataDir, (store) => {
    sizes = exchangeImports(store, keys);
  });
  return sizes;
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

interface StoredImport {
  /** Null without an import. */
  description: BankImport | null;
  entries: Iterable<{ id: string; value: StoredEntry }>;
}

interface TakenImport extends StoredImport {
  entries: readonly { id: string; value: StoredEntry }[];
}

interface NewImport {
  replaced: TakenImport;
  description: Omit<BankImport, 'revision'>;
  entries: StoredImport['entries'];
}

function writeImport(store: ImportStore, keys: ImportKeys, { replaced, description, entries }: NewImport): void {
  takeImport(store, keys.previous);
  putImport(store, keys.previous, replaced);
  putImport(store, keys.current, { description: { ...description, revision: nextRevision(store, keys) }, entries });
}

function exchangeImports(store: ImportStore, keys: ImportKeys): Sizes | null {
  const [undone, restored] = [takeImport(store, keys.current), takeImport(store, keys.previous)];
  if (undone.description === null && restored.description === null) return null;
  putImport(store, keys.previous, undone);
  const revision = nextRevision(store, keys);
  putImport(store, keys.current, {
    ...restored,
    description: restored.description && { ...restored.description, revision },
  });
  return { before: undone.entries.length, now: restored.entries.length };
}

/** Readers read all imports again when it changes. */
function nextRevision(store: ImportStore, keys: ImportKeys): number {
  const revision = ((store.get(keys.revision) as number | undefined) ?? 0) + 1;
  store.putSync(keys.revision, revision);
  return revision;
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

function banksOf({ entries }: TakenImport): { bankCode: string }[] {
  return entries.map(({ id }) => ({ bankCode: id }));
}

function* storedBanks(entries: Iterable<BankEntry>): Generator<{ id: string; value: StoredBank }> {
  for (const { bankCode, name, zip, city, bic, accountCheckMethod } of entries) {
    const value: StoredBank = [name, zip, city, bic];
    if (accountCheckMethod) value.push(accountCheckMethod);
    yield { id: bankCode, value };
  }
}
