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
  /** The entry; null if there is none. Undefined if the store fails or is slow: then it is not asked for a claim. */
  get(key: string): Promise<CacheEntry | null | undefined>;
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

/** The service is asked without a claim: the store fails, or the answer of another replica is not waited for. */
export const noClaim: Claim = { release() {} };

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
      return typeof text === 'string' ? (cacheEntry.safeParse(parseJson(text)).data ?? null) : text;
    },
    set(key, entry) {
      const expiresInMs = entry.staleUntil - Date.now();
      if (expiresInMs > 0) store.set(storeKey(key), JSON.stringify(entry), { expiresInMs }).catch(ignore);
    },
    async claim(key) {
      const locking = store.lock(storeKey(key), { expiresInMs: claimMs });
      const lock = await answerWithin(locking, timeoutMs, onLate);
      if (lock === undefined) {
        // A lock that is acquired later must not make others wait.
        locking.then((late) => late?.release()).catch(ignore);
        return noClaim;
      }
      return lock && { release: () => void lock.release().catch(ignore) };
    },
  };
}

/** Increase the version when the shape of an answer changes: replicas of different releases must not share entries. */
function storeKey(key: string): string {
  return `answer:2:${key}`;
}
