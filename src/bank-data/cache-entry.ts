import type { RequestContext } from '../request-context.ts';
import type { CacheEntry, TimedAnswer } from './shared-cache.ts';

interface EntryOptions {
  freshMs: number;
  maxAgeMs: number;
  random: () => number;
  /** Of the data that answers come from. */
  version: () => string | null;
}

export type CreateEntry = (answer: object, isNegative: boolean) => CacheEntry;

/** Creates cache entries. The time to live is randomized by ±10 %, so that entries of one time do not expire together. */
export function createEntryFactory({ freshMs, maxAgeMs, random, version }: EntryOptions): CreateEntry {
  return (answer, isNegative) => {
    const now = Date.now();
    const freshUntil = now + (isNegative ? Math.min(freshMs, maxNegativeFreshMs) : freshMs) * (0.9 + 0.2 * random());
    const staleUntil = isNegative ? freshUntil : Math.max(freshUntil, now + maxAgeMs);
    return { answer: answer as CacheEntry['answer'], freshUntil, staleUntil, version: version() };
  };
}

export function useCached<Answer>(entry: TimedAnswer, context: RequestContext): PromiseLike<Answer> {
  recordUse(entry, true, context);
  return Promise.resolve(entry.answer as Answer);
}

/** Counts a look-up that an entry answered. Also lowers the request's `freshUntil`, which `Cache-Control` is computed from. */
export function recordUse({ freshUntil }: TimedAnswer, isHit: boolean, context: RequestContext): void {
  if (isHit) {
    context.usage.cacheHits += 1;
    if (Date.now() > freshUntil) context.usage.staleHits += 1;
  }
  context.freshUntil = Math.min(context.freshUntil, freshUntil);
}

/** A negative answer is fresh for about an hour at most (±10 %), and never served stale. */
const maxNegativeFreshMs = 3_600_000;
