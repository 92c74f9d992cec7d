import { SharedTask } from '../async/shared-task.ts';
import type { Signal } from '../async/signal.ts';
import { GatewayError } from '../errors.ts';
import type { RequestContext } from '../request-context.ts';
import { createBulkhead } from '../upstream/bulkhead.ts';
import { createShedError } from '../upstream/upstream-error.ts';
import { createEntryFactory, recordUse } from './cache-entry.ts';
import { createFlights, type Flight } from './flights.ts';
import { createMemoryCache } from './memory-cache.ts';
import type { CacheEntry, SharedCache } from './shared-cache.ts';

export interface LookUpCache {
  /** The cached answer, or the one looked up. A stale answer is returned at once while one flight revalidates it. */
  find<Answer extends object>(look: Look<Answer>): Promise<Answer>;
}

interface Look<Answer> {
  key: string;
  context: RequestContext;
  /**
   * Receives the context of the flight, which several requests may wait for. If it rejects, nothing is cached, and a
   * stale answer is served if there is one.
   */
  lookUp: (flightContext: RequestContext) => Promise<Answer>;
  /** Whether the answer has the shorter time to live of a negative answer. */
  isNegative: (answer: Answer) => boolean;
}

interface LookUpCacheOptions {
  /** Maximum number of look-ups that run at a time. */
  maxRunning: number;
  /** Maximum number of look-ups that wait for their turn; further ones fail at once. */
  maxWaiting: number;
  freshMs: number;
  /** Maximum age of a served answer. After `freshMs` it is served only while it is revalidated or the service fails. */
  maxAgeMs: number;
  maxBytes: number;
  sharedCache?: SharedCache | null;
  random?: () => number;
}

/** Not a hit: it was looked up at the service. */
type LookUpResult = { entry: CacheEntry; isHit: boolean };

/** Look-ups in memory, bounded in bytes: stale while revalidate, stale if error, one flight per key. */
export function createLookUpCache({
  maxRunning,
  maxWaiting,
  freshMs,
  maxAgeMs,
  maxBytes,
  sharedCache = null,
  random = Math.random,
}: LookUpCacheOptions): LookUpCache {
  const memory = createMemoryCache(maxBytes);
  const turns = createBulkhead({ maxConcurrency: maxRunning, maxQueue: maxWaiting });
  const createEntry = createEntryFactory({ freshMs, maxAgeMs, random });
  const flights = createFlights<LookUpResult>();

  return { find };

  /** Not async: an answer that is in memory costs no more than its promise. */
  function find<Answer extends object>(look: Look<Answer>): Promise<Answer> {
    const { key, context } = look;
    if (context.signal.aborted) return Promise.reject(context.signal.reason);
    context.usage.lookUps += 1;
    const cached = memory.get(key);
    const now = Date.now();
    if (cached && now <= cached.freshUntil) return useCached(cached, context);
    const known = flights.find(key);
    const isStale = cached && now <= cached.staleUntil;
    if (!known && !turns.enter()) return isStale ? useCached(cached, context) : waitForTurn(look);
    const flight = known ?? startFlight(look);
    return isStale ? useCached(cached, context) : join(flight, look);
  }

  /** A look-up that waits holds no more than its place in the queue: of a long list, thousands may wait. */
  async function waitForTurn<Answer extends object>(look: Look<Answer>): Promise<Answer> {
    const { key, context } = look;
    const { trace } = context;
    const queuedSince = performance.now();
    const hasTurn = await turns.wait(context.usage, context.signal);
    if (hasTurn && context.signal.aborted) turns.leave();
    context.signal.throwIfAborted();
    if (!hasTurn) throw createShedError('bank-data');
    const cached = memory.get(key);
    const known = flights.find(key);
    const isFresh = cached && Date.now() <= cached.freshUntil;
    if (isFresh || known) turns.leave();
    if (isFresh) return useCached(cached, context);
    return join(known ?? startFlight(look, queuedSince, trace), look);
  }

  function join<Answer extends object>(flight: Flight<LookUpResult>, look: Look<Answer>): Promise<Answer> {
    const { context } = look;
    const answer = (flight.task as SharedTask<LookUpResult>).join(context.signal, ({ entry, isHit }) => {
      recordUse(entry, isHit, context);
      return entry.answer as Answer;
    });
    if (flight.callerId === context.callerId) return answer;
    return answer.catch((error: unknown) => {
      if (!(error instanceof GatewayError && error.code === 'BUDGET_EXHAUSTED')) throw error;
      // The budget of the caller who started the flight; this one has another.
      context.usage.lookUps -= 1;
      return find(look);
    });
  }

  function useCached<Answer>(entry: CacheEntry, context: RequestContext): Promise<Answer> {
    recordUse(entry, true, context);
    return Promise.resolve(entry.answer as Answer);
  }

  function startFlight<Answer extends object>(
    { key, context, lookUp, isNegative }: Look<Answer>,
    queuedSince: number | null = null,
    trace = context.trace,
  ): Flight<LookUpResult> {
    const { callerId, usage, freshUntil, reserveCall } = context;
    const flight: Flight<LookUpResult> = { key, callerId, task: null };
    flights.add(flight);
    flight.task = new SharedTask(load);
    return flight;

    async function load(signal: Signal): Promise<LookUpResult> {
      let shared: CacheEntry | null = null;
      try {
        if (sharedCache) shared = await sharedCache.get(key);
        if (shared && Date.now() <= shared.freshUntil) return land({ entry: shared, isHit: true });
        const answer = await lookUp({ callerId, signal, usage, freshUntil, reserveCall, trace, queuedSince });
        const entry = createEntry(answer, isNegative(answer));
        sharedCache?.set(key, entry);
        return land({ entry, isHit: false });
      } catch (error) {
        if (!shared || Date.now() > shared.staleUntil) throw error;
        return land({ entry: shared, isHit: true });
      } finally {
        flights.remove(flight);
        turns.leave();
      }
    }

    function land(result: LookUpResult): LookUpResult {
      if (flights.has(flight)) memory.set(key, result.entry);
      return result;
    }
  }
}
