import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type EntryKind, type LmdbEntry, readEntry, removeEntry, sweepEntries, writeEntry } from './lmdb-entries.ts';
import { hasLmdbFile, type LmdbFile, openLmdbFile } from './lmdb-file.ts';
import { checkAmount, checkKey, type Lock, readExpiry, type Store, StoreError } from './store.ts';

interface LmdbStoreOptions {
  /** Made, like the file in it, with the first write. */
  folder: string;
  now?: () => number;
}

/**
 * Keeps everything in one file that several processes may use at once. Each write is a transaction; once it resolves it
 * is on the disk.
 * @throws ConfigError where the file is damaged or none of ours
 */
export function createLmdbStore({ folder, now = Date.now }: LmdbStoreOptions): Store {
  // The name holds the version of the layout: a later one gets a file of its own.
  const path = join(folder, 'store-1.lmdb');
  let file: LmdbFile | null = hasLmdbFile(path) ? openLmdbFile(path) : null;
  let lastWrite: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  function read(kind: EntryKind, key: string): LmdbEntry | null {
    if (isClosed) throw new StoreError('closed');
    if (file === null && hasLmdbFile(path)) file = openLmdbFile(path);
    // What other processes have written since the event loop last came around counts, too.
    file?.resetReadTxn();
    return file && readEntry(file, kind, key, now());
  }

  /** Runs a change as a transaction, alone over all processes. */
  async function write<T>(change: (file: LmdbFile, now: number) => T): Promise<T> {
    if (isClosed) throw new StoreError('closed');
    if (file === null) hasLmdbFile(path);
    file ??= openLmdbFile(path);
    const open = file;
    const transaction = open.transaction(() => {
      sweepEntries(open, now());
      return change(open, now());
    });
    lastWrite = transaction.catch(() => {});
    return transaction.catch(async (error) => {
      throw await toStoreError(error);
    });
  }

  function lockHeldBy(key: string, holder: string): Lock {
    return {
      release: () =>
        write((file, now) => {
          const entry = readEntry(file, 'lock', key, now);
          if (entry?.value === holder) removeEntry(file, 'lock', key, entry);
        }),
      async extend(expiry) {
        const expiresInMs = readExpiry(expiry);
        return write((file, now) => {
          if (readEntry(file, 'lock', key, now)?.value !== holder) return false;
          writeEntry(file, 'lock', key, { value: holder, expiresAt: now + expiresInMs });
          return true;
        });
      },
    };
  }

  return {
    async get(key) {
      return read('value', checkKey(key))?.value ?? null;
    },
    async set(key, value, expiry) {
      checkKey(key);
      const expiresInMs = readExpiry(expiry);
      await write((file, now) => writeEntry(file, 'value', key, { value, expiresAt: now + expiresInMs }));
    },
    async add(key, amount, expiry) {
      checkKey(key);
      const expiresInMs = readExpiry(expiry);
      if (checkAmount(amount) === 0) return Number(read('counter', key)?.value ?? 0);
      return write((file, now) => {
        const counter = readEntry(file, 'counter', key, now);
        const sum = Number(counter?.value ?? 0) + amount;
        const expiresAt = counter?.expiresAt ?? now + expiresInMs;
        writeEntry(file, 'counter', key, { value: String(sum), expiresAt });
        return sum;
      });
    },
    async lock(key, expiry) {
      checkKey(key);
      const expiresInMs = readExpiry(expiry);
      const holder = randomUUID();
      const isTaken = await write((file, now) => {
        if (readEntry(file, 'lock', key, now)) return true;
        writeEntry(file, 'lock', key, { value: holder, expiresAt: now + expiresInMs });
        return false;
      });
      return isTaken ? null : lockHeldBy(key, holder);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      // LMDB gives up what is not yet begun when it is closed. Writes end in the order they came.
      await lastWrite;
      await file?.close();
    },
  };
}

/** LMDB tells only that a commit failed, and promises to tell why. */
async function toStoreError(error: unknown): Promise<StoreError> {
  const { commitError, message } = error as Error & { commitError?: Promise<never> };
  const cause: unknown = await commitError?.catch((cause: unknown) => cause);
  return new StoreError(cause instanceof Error ? cause.message : message);
}
