import type { LmdbFile } from './lmdb-file.ts';

export type EntryKind = 'value' | 'counter' | 'lock';

export interface LmdbEntry {
  value: string;
  /** In milliseconds since 1970; stored as the version of the entry. */
  expiresAt: number;
}

/** The entry; null if missing or expired. */
export function readEntry(file: LmdbFile, kind: EntryKind, key: string): LmdbEntry | null {
  const entry = file.getEntry([kind, key]);
  const expiresAt = entry?.version ?? 0;
  return entry && expiresAt > Date.now() ? { value: entry.value, expiresAt } : null;
}

/** Must run in a transaction, like `removeEntry` and `sweepEntries`. */
export function writeEntry(file: LmdbFile, kind: EntryKind, key: string, { value, expiresAt }: LmdbEntry): void {
  file.put([kind, key], value, expiresAt);
  file.put([expiryIndex, expiresAt, kind, key], '', 0);
}

export function removeEntry(file: LmdbFile, kind: EntryKind, key: string, { expiresAt }: LmdbEntry): void {
  file.remove([kind, key]);
  file.remove([expiryIndex, expiresAt, kind, key]);
}

/** Removes some of the expired entries. */
export function sweepEntries(file: LmdbFile): void {
  const expired = [...file.getKeys({ start: [expiryIndex], end: [expiryIndex, Date.now() + 1], limit: maxSwept })];
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
