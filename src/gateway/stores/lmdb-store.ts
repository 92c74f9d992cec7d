import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { createFile } from '../../base/data-folder.ts';
import { ConfigError, errorCodeOf } from '../../base/errors.ts';
import { type LmdbFile, openLmdbFile } from '../../base/lmdb-file.ts';
import {
  addToCounter,
  type Count,
  type Counter,
  type CounterAmount,
  checkAmount,
  checkCounter,
  checkExpiry,
  checkKey,
  isLost,
  type KnownCount,
  type Store,
  StoreError,
} from './store.ts';

/**
 * Stores everything in one file for several processes. The first write creates the folder and the file. Each write is a transaction;
 * it resolves when it is on disk.
 * @throws ConfigError if the file is damaged or not an LMDB file
 */
export function createLmdbStore({ folder }: { folder: string }): Store {
  const path = lmdbPath(folder);
  const clock = createExpiryClock();
  const open = () => Object.assign(openLmdbFile(path), { clock });
  let file: TimedFile | null = existsSync(path) ? open() : null;
  let lastWrite: Promise<unknown> = Promise.resolve();
  /** Bytes of the writes that are not yet on disk. Writes at the same time share a commit. */
  let writingBytes = 0;
  let isClosed = false;
  let isMarked = false;

  function read<T>(readFrom: (file: TimedFile) => T): T | null {
    if (isClosed) throw new StoreError('closed');
    if (file === null && existsSync(path)) file = openFile();
    // lmdb reuses a read transaction within a turn of the event loop; a new one sees the writes of other processes.
    file?.resetReadTxn();
    try {
      return file && readFrom(file);
    } catch (error) {
      // A damaged page.
      throw new StoreError(error instanceof Error ? error.message : 'the file cannot be read');
    }
  }

  /** After the start, a file that cannot be opened is a failure of the store. */
  function openFile(): TimedFile {
    try {
      return open();
    } catch (error) {
      throw new StoreError(error instanceof ConfigError ? error.problems.join(' ') : String(error));
    }
  }

  /** Runs a change as an exclusive transaction, across all processes. `value` is written by it. */
  async function write<T>(change: (file: TimedFile) => T, value = ''): Promise<T> {
    if (isClosed) throw new StoreError('closed');
    file ??= openFile();
    const openedFile = file;
    const bytes = changedPagesBytes + Buffer.byteLength(value);
    refuseFullDisk(folder, writingBytes + bytes);
    writingBytes += bytes;
    const transaction = openedFile.transaction(() => {
      sweepEntries(openedFile);
      return change(openedFile);
    });
    lastWrite = transaction.then(
      () => (writingBytes -= bytes),
      () => (writingBytes -= bytes),
    );
    const result = await transaction.catch(async (error) => {
      throw await toStoreError(error);
    });
    if (!isMarked) isMarked = createMarker(folder);
    return result;
  }

  return {
    async get(key) {
      checkKey(key);
      return read((file) => readEntry(file, 'value', key))?.value ?? null;
    },
    async set(key, value, expiry) {
      checkKey(key);
      const expiresInMs = checkExpiry(expiry);
      await write((file) => writeEntry(file, 'value', key, { value, expiresAt: Date.now() + expiresInMs }), value);
    },
    async replace(key, seen, next, { also = [], ...expiry }) {
      const changed = [{ key, value: next }, ...also];
      for (const each of changed) checkKey(each.key);
      const expiresInMs = checkExpiry(expiry);
      return write(
        (file) => {
          const entry = readEntry(file, 'value', key);
          if ((entry?.value ?? null) !== seen) return false;
          for (const each of changed) writeValue(file, each.key, each.value, expiresInMs);
          return true;
        },
        changed.map(({ value }) => value).join(''),
      );
    },
    async delete(key) {
      checkKey(key);
      await write((file) => writeValue(file, key, null, 0));
    },
    async add(key, amount, { known = null, ...expiry }) {
      checkKey(key);
      checkAmount(amount);
      const expiresInMs = checkExpiry(expiry);
      const found = amount === 0 ? read((file) => readCounter(file, key)) : null;
      if (amount === 0 && !isLost(found, known)) return { sum: found?.sum ?? 0, id: found?.id ?? '', restored: 0 };
      return write((file) => addTo(file, { key, amount, expiresInMs }, known));
    },
    async addAll(amounts) {
      for (const each of amounts) checkCounter(each);
      return write((file) => amounts.map((each) => addTo(file, each, null).sum));
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      // Closing LMDB drops queued writes. They complete in order, so awaiting the last one suffices.
      await lastWrite;
      await file?.close();
    },
  };
}

/** The name contains the version of the layout: a new layout gets a new file. */
export function lmdbPath(folder: string): string {
  return join(folder, 'store-1.lmdb');
}

/** The file that says that a store was written: without it, a store that is missing or empty would begin again at 0 in silence. */
export function markerPath(folder: string): string {
  return `${lmdbPath(folder)}-created`;
}

/** After the first write, which is the check value of the secret. @returns whether it exists */
function createMarker(folder: string): boolean {
  try {
    createFile(markerPath(folder), 'store-1.lmdb was created: without it, the gateway does not start.\n');
    return true;
  } catch {
    // The disk is full. The next write tries again.
    return false;
  }
}

/** LMDB writes a line about a failed commit to standard error, past the log. So a commit that may fail is not tried. */
function refuseFullDisk(folder: string, bytes: number): void {
  let freeBytes: number;
  try {
    const { bavail, bsize } = statfsSync(folder);
    freeBytes = bavail * bsize;
  } catch (error) {
    throw new StoreError(errorCodeOf(error) ?? 'the folder is not accessible');
  }
  if (freeBytes < spareBytes + bytes) throw new StoreError('the disk is full');
}

const spareBytes = 131_072;
/** Pages of 4 kB that a write changes, besides its value: entries, their expiry, and expired entries that it removes. */
const changedPagesBytes = 32_768;

/** On a failed commit, lmdb rejects with an error whose `commitError` is a promise for the reason. */
async function toStoreError(error: unknown): Promise<StoreError> {
  const { commitError, message } = error as Error & { commitError?: Promise<never> };
  const cause: unknown = await commitError?.catch((cause: unknown) => cause);
  return new StoreError(cause instanceof Error ? cause.message : message);
}

/**
 * The time by which entries expire. While the clock is ahead of the time that has passed since the start, it expires only what was written
 * after it was set forward: a wrong clock must not lose essays that were paid for.
 */
function createExpiryClock() {
  const startedAhead = Date.now() - performance.now();
  /** What the clock was set to; null: it is not ahead. */
  let setTo: number | null = null;

  function timePassed(): number {
    const passed = startedAhead + performance.now();
    setTo = Date.now() - passed > stepMs ? (setTo ?? Date.now()) : null;
    return passed;
  }

  return {
    hasExpired(expiresAt: number): boolean {
      const passed = timePassed();
      return expiresAt <= (setTo === null || expiresAt > setTo ? Date.now() : passed);
    },
    /** Until when all entries have expired. */
    sweptUntil: () => Math.min(timePassed(), Date.now()),
  };
}

/** Time synchronization changes it by less. */
const stepMs = 60_000;

type TimedFile = LmdbFile & { clock: ReturnType<typeof createExpiryClock> };

type EntryKind = 'value' | 'counter' | 'origin';

interface LmdbEntry {
  value: string;
  /** In milliseconds since 1970; stored as the version of the entry. */
  expiresAt: number;
}

/** The entry; null if missing or expired. */
function readEntry(file: TimedFile, kind: EntryKind, key: string): LmdbEntry | null {
  const entry = file.getEntry([kind, key]);
  const expiresAt = entry?.version ?? 0;
  return entry && !file.clock.hasExpired(expiresAt) ? { value: entry.value, expiresAt } : null;
}

function readCounter(file: TimedFile, key: string): (Counter & Pick<LmdbEntry, 'expiresAt'>) | null {
  const entry = readEntry(file, 'counter', key);
  if (entry === null) return null;
  const [id = '', restored = 0] = readEntry(file, 'origin', key)?.value.split(' ') ?? [];
  return { sum: Number(entry.value), id, restored: Number(restored), expiresAt: entry.expiresAt };
}

/** Must run in a transaction, like the functions below. @param value null: it is removed */
function writeValue(file: TimedFile, key: string, value: string | null, expiresInMs: number): void {
  const entry = value === null ? readEntry(file, 'value', key) : null;
  if (value !== null) writeEntry(file, 'value', key, { value, expiresAt: Date.now() + expiresInMs });
  else if (entry) removeEntry(file, 'value', key, entry);
}

function addTo(file: TimedFile, { key, amount, expiresInMs }: CounterAmount, known: KnownCount | null): Count {
  const before = readCounter(file, key);
  if (amount === 0 && !isLost(before, known)) return { sum: before?.sum ?? 0, id: before?.id ?? '', restored: 0 };
  const { sum, id, restored } = addToCounter(before, amount, known);
  const expiresAt = before?.expiresAt ?? Date.now() + expiresInMs;
  writeEntry(file, 'counter', key, { value: String(sum), expiresAt });
  const added = restored - (before?.restored ?? 0);
  if (before?.id !== id || added > 0) writeEntry(file, 'origin', key, { value: `${id} ${restored}`, expiresAt });
  return { sum, id, restored: added };
}

function writeEntry(file: LmdbFile, kind: EntryKind, key: string, { value, expiresAt }: LmdbEntry): void {
  file.put([kind, key], value, expiresAt);
  file.put([expiryIndex, expiresAt, kind, key], checksumOf(kind, key, value), 0);
}

/** Whether an entry is as it was written, which needs no secret. In the order of expiries, there are only checksums. */
export function isAsWritten(
  file: LmdbFile,
  [kind = '', key = '']: (string | number)[],
  value: string,
  expiresAt: number,
) {
  return kind === expiryIndex || file.get([expiryIndex, expiresAt, kind, key]) === checksumOf(kind, key, value);
}

const checksumOf = (kind: string | number, key: string | number, value: string) =>
  String(crc32(`${kind} ${key} ${value}`));

function removeEntry(file: LmdbFile, kind: EntryKind, key: string, { expiresAt }: LmdbEntry): void {
  file.remove([kind, key]);
  file.remove([expiryIndex, expiresAt, kind, key]);
}

/** Removes some of the expired entries. */
function sweepEntries(file: TimedFile): void {
  const expired = [
    ...file.getKeys({ start: [expiryIndex], end: [expiryIndex, file.clock.sweptUntil() + 1], limit: maxSwept }),
  ];
  for (const indexKey of expired) {
    const [, expiresAt, kind, key] = indexKey;
    // The version is compared, because the entry may have been overwritten with a later expiry.
    file.remove([String(kind), String(key)], Number(expiresAt));
    file.remove(indexKey);
  }
}

/** Prefix of the keys that list all entries in the order of their expiry. */
const expiryIndex = 'expiry';

/** More than a write adds, so that expired entries cannot accumulate; few, because other processes wait meanwhile. */
const maxSwept = 8;
