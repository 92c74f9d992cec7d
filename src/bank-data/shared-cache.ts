import * as z from 'zod';
import type { Lock, Store } from '../stores/store.ts';

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

/** A second, slower cache behind the one in memory, shared by all replicas of the gateway. It never rejects. */
export interface SharedCache {
  get(key: string): Promise<CacheEntry | null>;
  set(key: string, entry: CacheEntry): void;
  /** The right to ask the service for this key, for `claimMs`; null while another replica has it. */
  claim(key: string): Promise<Claim | null>;
}

export interface Claim {
  /** Lets another replica ask at once: call it when the service failed. */
  release(): void;
}

/** Short: when the replica with the claim has crashed, or its service is slow, another one asks after this time. */
export const claimMs = 2_000;

/** A store that fails, or does not answer within `timeoutMs`, is treated as empty, and its claims as free. */
export function createSharedCache(store: Store, timeoutMs: number): SharedCache {
  return {
    async get(key) {
      try {
        const text = await before(timeoutMs, store.get(storeKey(key)), null);
        return text === null ? null : cacheEntry.parse(JSON.parse(text));
      } catch {
        return null;
      }
    },
    set(key, entry) {
      const expiresInMs = entry.staleUntil - Date.now();
      if (expiresInMs > 0) store.set(storeKey(key), JSON.stringify(entry), { expiresInMs }).catch(ignore);
    },
    async claim(key) {
      try {
        const lock = await before(timeoutMs, store.lock(storeKey(key), { expiresInMs: claimMs }), noLock);
        return lock && { release: () => void lock.release().catch(ignore) };
      } catch {
        return { release() {} };
      }
    },
  };
}

/**
 * The value, or another one if it takes longer. If the process was busy meanwhile, its timers run before it reads what has
 * arrived, so that is read first: a call of the service is dearer than a short wait.
 */
function before<T>(timeoutMs: number, value: Promise<T>, otherwise: T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(resolve, otherwise), timeoutMs);
    value.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** What a claim is while the store does not answer. */
const noLock: Lock = { release: async () => {}, extend: async () => false };

function ignore(): void {}

/** Increase the version when the shape of an answer changes: replicas of different releases must not share entries. */
function storeKey(key: string): string {
  return `answer:2:${key}`;
}
