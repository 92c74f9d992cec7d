import { LRUCache } from 'lru-cache';
import { type SharedTask, startSharedTask } from '../async/shared-task.ts';
import type { RequestContext } from '../request-context.ts';
import type { CacheEntry, SharedCache } from './shared-cache.ts';

export interface LookUpCache {
  /**
   * The cached answer, or the fetched one. A stale answer is returned at once while one flight revalidates it.
   * @param fetch receives the context of the flight, which several requests may wait for; where it rejects, nothing is
   * cached, and a stale answer is served if there is one
   * @param isNegative whether the answer has the shorter time to live of a negative answer
   */
  find<Answer extends object>(
    key: string,
    context: RequestContext,
    fetch: (flight: RequestContext) => Promise<Answer>,
    isNegative: (answer: Answer) => boolean,
  ): Promise<Answer>;
}

interface LookUpCacheOptions {
  freshMs: number;
  /** How long an answer is served at all: while it is revalidated, or the service fails. */
  staleMs: number;
  /** How long a negative answer is fresh. It is never served stale. */
  negativeFreshMs?: number;
  maxBytes: number;
  sharedCache?: SharedCache | null;
  random?: () => number;
}

interface Found {
  entry: CacheEntry;
  /** Whether it was found in a cache. */
  isHit: boolean;
}

/** Look-ups in memory, bounded in bytes: stale while revalidate, stale if error, one flight per key. */
export function createLookUpCache({
  freshMs,
  staleMs,
  negativeFreshMs = Math.min(freshMs, 3_600_000),
  maxBytes,
  sharedCache = null,
  random = Math.random,
}: LookUpCacheOptions): LookUpCache {
  const entries = new LRUCache<string, CacheEntry>({
    maxSize: maxBytes,
    sizeCalculation: (entry, key) => 2 * (JSON.stringify(entry.answer).length + key.length) + bytesPerEntry,
  });
  const flights = new Map<string, SharedTask<Found>>();

  return {
    async find(key, context, fetch, isNegative) {
      context.signal.throwIfAborted();
      context.usage.lookUps += 1;
      const cached = entries.get(key);
      if (cached && Date.now() <= cached.freshUntil) return use({ entry: cached, isHit: true }, context);
      const flight =
        findFlight(key) ?? startFlight(key, (signal) => load(key, { ...context, signal }, fetch, isNegative));
      const isStale = cached && Date.now() <= cached.staleUntil;
      return use(isStale ? { entry: cached, isHit: true } : await flight.join(context.signal), context);
    },
  };

  /** The caller learns how long the answer is fresh, for `Cache-Control`. */
  function use<Answer>({ entry, isHit }: Found, context: RequestContext): Answer {
    if (isHit) context.usage.cacheHits += 1;
    if (Date.now() > entry.freshUntil) context.usage.staleHits += 1;
    context.freshUntil = Math.min(context.freshUntil, entry.freshUntil);
    return entry.answer as Answer;
  }

  /** A flight that was aborted may settle later, but no further caller joins it. */
  function findFlight(key: string): SharedTask<Found> | undefined {
    const flight = flights.get(key);
    return flight?.isAborted() ? undefined : flight;
  }

  function startFlight(key: string, run: (signal: AbortSignal) => Promise<Found>): SharedTask<Found> {
    // A newer flight may have taken the place of an aborted one, whose result is then neither cached nor ends the newer.
    const isCurrent = () => flights.get(key) === flight;
    const flight = startSharedTask(async (signal) => {
      const found = await run(signal);
      if (isCurrent()) store(key, found.entry);
      return found;
    });
    flights.set(key, flight);
    flight.settled.then(() => isCurrent() && flights.delete(key));
    return flight;
  }

  async function load<Answer extends object>(
    key: string,
    flight: RequestContext,
    fetch: (flight: RequestContext) => Promise<Answer>,
    isNegative: (answer: Answer) => boolean,
  ): Promise<Found> {
    const shared = sharedCache && (await sharedCache.get(key));
    if (shared && Date.now() <= shared.freshUntil) return { entry: shared, isHit: true };
    try {
      const answer = await fetch(flight);
      const entry = createEntry(answer, isNegative(answer));
      sharedCache?.set(key, entry);
      return { entry, isHit: false };
    } catch (error) {
      if (!shared || Date.now() > shared.staleUntil) throw error;
      return { entry: shared, isHit: true };
    }
  }

  /** Unless the entry in memory is newer than one from the shared cache. */
  function store(key: string, entry: CacheEntry): void {
    const present = entries.peek(key);
    if (!present || present.freshUntil <= entry.freshUntil) entries.set(key, entry);
  }

  /** The time to live varies by a tenth either way, so that entries that were cached together expire apart. */
  function createEntry(answer: object, isNegative: boolean): CacheEntry {
    const freshUntil = Date.now() + (isNegative ? negativeFreshMs : freshMs) * (0.9 + 0.2 * random());
    const staleUntil = isNegative ? freshUntil : Math.max(freshUntil, Date.now() + staleMs);
    return { answer: answer as CacheEntry['answer'], freshUntil, staleUntil };
  }
}

/** Memory of an entry besides its text, roughly. */
const bytesPerEntry = 300;
