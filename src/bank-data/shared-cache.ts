import * as z from 'zod';
import type { Store } from '../stores/store.ts';

/** An answer with its times, in milliseconds since 1970, and the version of its data. */
export type CacheEntry = z.infer<typeof cacheEntry>;

const cacheEntry = z.object({
  answer: z.looseObject({}),
  freshUntil: z.number(),
  /** End of the time in which it may be served stale. */
  staleUntil: z.number(),
  /** The version of the data that the answer comes from; null if the service reports none. */
  version: z.string().nullable().default(null),
});

/** A second, slower cache behind the one in memory, shared by all processes of the gateway. It never rejects. */
export interface SharedCache {
  get(key: string): Promise<CacheEntry | null>;
  set(key: string, entry: CacheEntry): void;
}

interface SharedCacheOptions {
  timeoutMs: number;
  /** Whether entries are stored until they are too old to be served, and not only while they are fresh. */
  keepsStale: boolean;
}

/** A store that fails, or does not answer within `timeoutMs`, is treated as empty. */
export function createSharedCache(store: Store, { timeoutMs, keepsStale }: SharedCacheOptions): SharedCache {
  return {
    async get(key) {
      try {
        const text = await nullAfter(timeoutMs, store.get(storeKey(key)));
        return text === null ? null : cacheEntry.parse(JSON.parse(text));
      } catch {
        return null;
      }
    },
    set(key, entry) {
      const expiresInMs = (keepsStale ? entry.staleUntil : entry.freshUntil) - Date.now();
      if (expiresInMs > 0) store.set(storeKey(key), JSON.stringify(entry), { expiresInMs }).catch(() => {});
    },
  };
}

/**
 * The value, or null after the time. If the process was busy meanwhile, its timers run before it reads what has arrived, so
 * that is read first: a call of the service is dearer than a short wait.
 */
function nullAfter<T>(timeoutMs: number, value: Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(resolve, null), timeoutMs);
    value.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Increase the version when the shape of an answer changes: replicas of different releases must not share entries. */
function storeKey(key: string): string {
  return `answer:2:${key}`;
}
