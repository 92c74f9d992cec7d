import { type SharedTask, startSharedTask } from '../async/shared-task.ts';
import { GatewayError } from '../errors.ts';
import type { RequestContext } from '../request-context.ts';
import { createEntryFactory } from './cache-entry.ts';
import { createMemoryCache, type MemoryEntry } from './memory-cache.ts';
import type { CacheEntry, SharedCache } from './shared-cache.ts';

export interface LookUpCache {
  /**
   * The cached answer, or the one looked up. A stale answer is returned at once while one flight revalidates it.
   * @param lookUp receives the context of the flight, which several requests may wait for; if it rejects, nothing is
   * cached, and a stale answer is served if there is one
   * @param isNegative whether the answer has the shorter time to live of a negative answer
   */
  find<Answer extends object>(
    key: string,
    context: RequestContext,
    lookUp: LookUp<Answer>,
    isNegative: (answer: Answer) => boolean,
  ): Promise<Answer>;
}

type LookUp<Answer> = (flightContext: RequestContext) => Promise<Answer>;

interface LookUpCacheOptions {
  freshMs: number;
  /** Maximum age of a served answer. After `freshMs` it is served only while it is revalidated or the service fails. */
  maxAgeMs: number;
  maxBytes: number;
  sharedCache?: SharedCache | null;
  random?: () => number;
}

type ActiveFlight = Flight & { task: SharedTask<LookUpResult> };

interface LookUpResult {
  entry: CacheEntry;
  /** False if it was looked up at the service. */
  isHit: boolean;
}

interface Flight {
  /**
   * Null when it has settled: the tables that a `Map` leaves behind as its entries change keep what they contained alive
   * until the next full garbage collection, one in two flights with all that it refers to.
   */
  task: SharedTask<LookUpResult> | null;
  /** Of the request that started it. */
  callerId: string;
}

/** Look-ups in memory, bounded in bytes: stale while revalidate, stale if error, one flight per key. */
export function createLookUpCache({
  freshMs,
  maxAgeMs,
  maxBytes,
  sharedCache = null,
  random = Math.random,
}: LookUpCacheOptions): LookUpCache {
  const memory = createMemoryCache(maxBytes);
  const createEntry = createEntryFactory({ freshMs, maxAgeMs, random });
  const flights = new Map<string, Flight>();

  return { find };

  /** Not async: an answer that is in memory costs no more than its promise. */
  function find<Answer extends object>(
    key: string,
    context: RequestContext,
    lookUp: LookUp<Answer>,
    isNegative: (answer: Answer) => boolean,
  ): Promise<Answer> {
    if (context.signal.aborted) return Promise.reject(context.signal.reason);
    context.usage.lookUps += 1;
    const cached = memory.get(key);
    const now = Date.now();
    if (cached && now <= cached.freshUntil) return useCached(cached, context);
    const flight = findFlight(key) ?? startFlight(key, context, lookUp, isNegative);
    if (cached && now <= cached.staleUntil) return useCached(cached, context);
    const answer = flight.task.join(context.signal).then(({ entry, isHit }) => {
      recordUse(entry, isHit, context);
      return entry.answer as Answer;
    });
    if (flight.callerId === context.callerId) return answer;
    return answer.catch((error: unknown) => {
      if (!(error instanceof GatewayError && error.code === 'BUDGET_EXHAUSTED')) throw error;
      // The budget of the caller who started the flight; this one has another.
      context.usage.lookUps -= 1;
      return find(key, context, lookUp, isNegative);
    });
  }

  /** Also lowers the request's `freshUntil`, which `Cache-Control` is computed from. */
  function recordUse({ freshUntil }: { freshUntil: number }, isHit: boolean, context: RequestContext): void {
    if (isHit) context.usage.cacheHits += 1;
    if (Date.now() > freshUntil) context.usage.staleHits += 1;
    context.freshUntil = Math.min(context.freshUntil, freshUntil);
  }

  function useCached<Answer>(entry: MemoryEntry, context: RequestContext): Promise<Answer> {
    recordUse(entry, true, context);
    return Promise.resolve(JSON.parse(entry.json));
  }

  /** A flight that was aborted may settle later, but no further caller joins it. */
  function findFlight(key: string): ActiveFlight | null {
    const { task = null, callerId = '' } = flights.get(key) ?? {};
    return task === null || task.isAborted() ? null : { task, callerId };
  }

  function startFlight<Answer extends object>(
    key: string,
    { callerId, usage, freshUntil, reserveCall }: RequestContext,
    lookUp: LookUp<Answer>,
    isNegative: (answer: Answer) => boolean,
  ): ActiveFlight {
    const flight: Flight = { task: null, callerId };
    const task = startSharedTask(async (signal) => {
      let shared: CacheEntry | null = null;
      try {
        if (sharedCache) shared = await sharedCache.get(key);
        if (shared && Date.now() <= shared.freshUntil) return land({ entry: shared, isHit: true });
        const answer = await lookUp({ callerId, signal, usage, freshUntil, reserveCall });
        const entry = createEntry(answer, isNegative(answer));
        sharedCache?.set(key, entry);
        return land({ entry, isHit: false });
      } catch (error) {
        if (!shared || Date.now() > shared.staleUntil) throw error;
        return land({ entry: shared, isHit: true });
      } finally {
        if (isCurrent()) flights.delete(key);
        flight.task = null;
      }
    });
    flight.task = task;
    flights.set(key, flight);
    return { task, callerId };

    function land(result: LookUpResult): LookUpResult {
      if (isCurrent()) memory.set(key, result.entry);
      return result;
    }

    /** A newer flight may have replaced an aborted one, which then neither caches its result nor removes the newer one. */
    function isCurrent(): boolean {
      return flights.get(key)?.task === task;
    }
  }
}
