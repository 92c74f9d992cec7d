import { removeEntry, writeEntry } from './lmdb-entries.ts';
import type { LmdbFile } from './lmdb-file.ts';

/*
 * Locks expire by the monotonic clock, which the processes of a machine share: setting the date must not pass a lock on.
 * The clock starts again with the machine, so a lock that has more time left than it was given is from before.
 */

/** Whether a holder has the lock; of any holder if it is not given. */
export function isLocked(file: LmdbFile, key: string, byHolder?: string): boolean {
  const entry = file.getEntry(['lock', key]);
  if (!entry) return false;
  const [holder, expiresAt, expiresInMs] = entry.value.split(' ');
  if (byHolder !== undefined && holder !== byHolder) return false;
  // Release 0.1.0 wrote only the holder.
  if (expiresAt === undefined) return Number(entry.version) > Date.now();
  const leftMs = Number(expiresAt) - monotonicMs();
  return leftMs > 0 && leftMs <= Number(expiresInMs);
}

/** Must run in a transaction, like `unlock`. */
export function writeLock(file: LmdbFile, key: string, holder: string, expiresInMs: number): void {
  const value = `${holder} ${monotonicMs() + expiresInMs} ${expiresInMs}`;
  writeEntry(file, 'lock', key, { value, expiresAt: Date.now() + expiresInMs + sweepDelayMs });
}

export function unlock(file: LmdbFile, key: string, holder: string): void {
  const entry = file.getEntry(['lock', key]);
  if (entry?.value.split(' ')[0] === holder) {
    removeEntry(file, 'lock', key, { value: entry.value, expiresAt: Number(entry.version) });
  }
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Expired entries are removed by date, so a date that is set forward by less does not remove a lock. */
const sweepDelayMs = 3_600_000;
