import * as z from 'zod';
import { answerWithin } from '../../base/async/pause.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { SharedValues } from '../stores/shared-values.ts';

/** An answer with its times, in milliseconds since 1970, and the version of its data. */
export type CacheEntry = z.infer<typeof cacheEntry>;

const cacheEntry = z.object({
  answer: z.looseObject({}),
  freshUntil: z.number(),
  /** End of the time in which it may be served stale. */
  staleUntil: z.number(),
  /** The version of the data that the answer comes from; null if the service reports none. */
  version: z.string().nullable(),
  /** The last purge before it was looked up. */
  lastPurge: z.number(),
});

/** A second, slower cache behind the one in memory, shared by all gateways. It never rejects. */
export interface SharedCache {
  /** The entries in the order of the keys; null where there is none, and for all if the store fails or is slow. */
  readMany(keys: readonly string[]): Promise<readonly (CacheEntry | null)[]>;
  write(key: string, entry: CacheEntry): void;
}

interface SharedCacheOptions {
  /** How long the look-ups of a batch wait for the store. */
  timeoutMs: number;
  /** Called for each answer of the store that was not waited for any longer. */
  onLate(): void;
  /** Resolves once the purges are known: earlier entries may have been taken back. Nothing is read if it rejects. */
  loadPurges?(): Promise<void>;
}

export function createSharedCache(
  values: SharedValues,
  { timeoutMs, onLate, loadPurges }: SharedCacheOptions,
): SharedCache {
  const read = async (keys: readonly string[]) => {
    await loadPurges?.();
    return values.readMany(keys.map(storeKey));
  };

  return {
    async readMany(keys) {
      const texts = await answerWithin(read(keys), timeoutMs, onLate);
      return texts?.map((text) => (text === null ? null : (cacheEntry.safeParse(parseJson(text)).data ?? null))) ?? [];
    },
    write(key, entry) {
      const expiresInMs = entry.staleUntil - Date.now();
      if (expiresInMs > 0) values.write(storeKey(key), JSON.stringify(entry), { expiresInMs });
    },
  };
}

/** Increase the version when the shape of an answer changes: replicas of different releases must not share entries. */
function storeKey(key: string): string {
  return `answer:2:${key}`;
}
