import type { RequestContext } from '../request-context.ts';
import type { MemoryEntry } from './memory-cache.ts';
import type { CacheEntry } from './shared-cache.ts';

export interface LookUpResult {
  entry: CacheEntry;
  /** False if it was looked up at the service. */
  isHit: boolean;
}

/** Answers with an entry that is in memory. */
export function useCached<Answer>(entry: MemoryEntry, context: RequestContext): Promise<Answer> {
  recordUse(entry, true, context);
  return Promise.resolve(JSON.parse(entry.json));
}

/** Also lowers the request's `freshUntil`, which `Cache-Control` is computed from. */
export function recordUse({ freshUntil }: { freshUntil: number }, isHit: boolean, context: RequestContext): void {
  if (isHit) context.usage.cacheHits += 1;
  if (Date.now() > freshUntil) context.usage.staleHits += 1;
  context.freshUntil = Math.min(context.freshUntil, freshUntil);
}
