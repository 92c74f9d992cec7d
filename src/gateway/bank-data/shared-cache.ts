import * as z from 'zod';
import { answerWithin } from '../../base/async/pause.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { Store } from '../stores/store.ts';
import { ignore } from '../telemetry/events.ts';

/** An answer with its times, in milliseconds since 1970, and the version of its data. */
export type CacheEntry = z.infer<typeof cacheEntry>;

const cacheEntry = z.object({
  answer: z.looseObject({}),
  freshUntil: z.number(),
  /** End of the time in which it may be served stale. */
  staleUntil: z.number(),
  /** The version of the data that the answer comes from; null if the service reports none. */
  version: z.string().nullable(),
});

/** A second, slower cache behind the one in memory, shared by all gateways. It never rejects. */
export interface SharedCache {
  /** The entry; null if there is none, or the store fails or is slow. */
  get(key: string): Promise<CacheEntry | null>;
  set(key: string, entry: CacheEntry): void;
}

interface SharedCacheOptions {
  /** How long a look-up waits for the store. */
  timeoutMs: number;
  /** Called for each answer of the store that was not waited for any longer. */
  onLate(): void;
}

export function createSharedCache(store: Store, { timeoutMs, onLate }: SharedCacheOptions): SharedCache {
  return {
    async get(key) {
      const text = await answerWithin(store.get(storeKey(key)), timeoutMs, onLate);
      return typeof text === 'string' ? (cacheEntry.safeParse(parseJson(text)).data ?? null) : null;
    },
    set(key, entry) {
      const expiresInMs = entry.staleUntil - Date.now();
      if (expiresInMs > 0) store.set(storeKey(key), JSON.stringify(entry), { expiresInMs }).catch(ignore);
    },
  };
}

/** Increase the version when the shape of an answer changes: replicas of different releases must not share entries. */
function storeKey(key: string): string {
  return `answer:2:${key}`;
}
