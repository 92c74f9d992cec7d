import type { createEntryFactory } from './cache-entry.ts';
import type { CacheEntry, SharedCache } from './shared-cache.ts';

export interface LookUpResult {
  entry: CacheEntry;
  /** False if it was looked up at the service. */
  isHit: boolean;
}

interface LoadOptions {
  sharedCache: SharedCache | null;
  createEntry: ReturnType<typeof createEntryFactory>;
  /** Of the data that answers come from; null if it is not known. */
  version: () => string | null;
}

/** Loads an answer that is not in memory: from the shared cache if it is fresh there, otherwise from the service. */
export function createLoad({ sharedCache, createEntry, version }: LoadOptions) {
  return async <Answer extends object>(
    key: string,
    isNegative: (answer: Answer) => boolean,
    lookUp: () => Promise<Answer>,
  ): Promise<LookUpResult> => {
    const shared = sharedCache ? await sharedCache.get(key) : null;
    if (shared && Date.now() <= shared.freshUntil && shared.version === version()) {
      return { entry: shared, isHit: true };
    }
    try {
      const answer = await lookUp();
      const entry = createEntry(answer, isNegative(answer));
      sharedCache?.set(key, entry);
      return { entry, isHit: false };
    } catch (error) {
      const isOutdated = version() !== null && shared?.version !== version();
      if (!shared || isOutdated || Date.now() > shared.staleUntil) throw error;
      return { entry: shared, isHit: true };
    }
  };
}
