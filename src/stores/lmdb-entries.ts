import type { LmdbFile } from './lmdb-file.ts';

export type EntryKind = 'value' | 'counter' | 'lock';

export interface LmdbEntry {
  value: string;
  /** In milliseconds since 1970; kept as the version of the entry. */
  expiresAt: number;
}

/** What stands under a key and has not expired. */
export function readEntry(file: LmdbFile, kind: EntryKind, key: string, now: number): LmdbEntry | null {
  const entry = file.getEntry([kind, key]);
  const expiresAt = entry?.version ?? 0;
  return entry && expiresAt > now ? { value: entry.value, expiresAt } : null;
}

/** Within a transaction. */
export function writeEntry(file: LmdbFile, kind: EntryKind, key: string, { value, expiresAt }: LmdbEntry): void {
  file.put([kind, key], value, expiresAt);
  file.put([EXPIRY, expiresAt, kind, key], '', 0);
}

/** Within a transaction. */
export function removeEntry(file: LmdbFile, kind: EntryKind, key: string, { expiresAt }: LmdbEntry): void {
  file.remove([kind, key]);
  file.remove([EXPIRY, expiresAt, kind, key]);
}

/** Within a transaction: drops some of what has expired. */
export function sweepEntries(file: LmdbFile, now: number): void {
  const expired = [...file.getKeys({ start: [EXPIRY], end: [EXPIRY, now + 1], limit: maxSwept })];
  for (const mark of expired) {
    const [, expiresAt, kind, key] = mark;
    // Only what still expires then: it may have been written anew.
    file.remove([String(kind), String(key)], Number(expiresAt));
    file.remove(mark);
  }
}

/** Under it, all that expires, in the order it does. */
const EXPIRY = 'expiry';

/** More than one write adds, so that the sweep catches up; few, because other processes wait meanwhile. */
const maxSwept = 8;
