import { GatewayError } from '../errors.ts';
import type { RequestContext } from '../request-context.ts';
import { createBulkhead } from '../upstream/bulkhead.ts';
import { createShedError } from '../upstream/upstream-error.ts';
import { createEntryFactory } from './cache-entry.ts';
import type { DataVersion } from './data-version.ts';
import { createFlights, type Flight } from './flights.ts';
import { createLoad, type LookUpResult } from './load.ts';
import { createMemoryCache, type MemoryEntry } from './memory-cache.ts';
import type { SharedCache } from './shared-cache.ts';

export interface LookUpCache {
  /**
   * The cached answer, or the one looked up. A stale answer is returned at once while one flight revalidates it.
   * @param lookUp receives the context of the flight, which several requests may wait for; if it rejects, nothing is
   * cached, and a stale answer is served if there is one
   * @param isNegative whether the answer has the shorter time to live of a negative answer
   */
  find<Answer extends object>(...look: Look<Answer>): Promise<Answer>;
}

type Look<Answer> = [key: string, context: RequestContext, lookUp: LookUp<Answer>, isNegative: IsNegative<Answer>];
type LookUp<Answer> = (flightContext: RequestContext) => Promise<Answer>;
type IsNegative<Answer> = (answer: Answer) => boolean;

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
  /** Answers that come from data of another version are not used. */
  dataVersion?: Pick<DataVersion, 'current' | 'onChanged'> | null;
}

/** Look-ups in memory, bounded in bytes: stale while revalidate, stale if error, one flight per key. */
export function createLookUpCache({
  maxRunning,
  maxWaiting,
  freshMs,
  maxAgeMs,
  maxBytes,
  sharedCache = null,
  random = Math.random,
  dataVersion = null,
}: LookUpCacheOptions): LookUpCache {
  const memory = createMemoryCache(maxBytes);
  const turns = createBulkhead({ maxConcurrency: maxRunning, maxQueue: maxWaiting });
  const version = dataVersion?.current ?? (() => null);
  const createEntry = createEntryFactory({ freshMs, maxAgeMs, random, version });
  const load = createLoad({ sharedCache, createEntry, version });
  const flights = createFlights<LookUpResult>(turns.leave);

  dataVersion?.onChanged(memory.clear);

  return { find };

  /** Not async: an answer that is in memory costs no more than its promise. */
  function find<Answer extends object>(
    key: string,
    context: RequestContext,
    lookUp: LookUp<Answer>,
    isNegative: IsNegative<Answer>,
  ): Promise<Answer> {
    if (context.signal.aborted) return Promise.reject(context.signal.reason);
    context.usage.lookUps += 1;
    const cached = memory.get(key);
    const now = Date.now();
    if (cached && now <= cached.freshUntil) return useCached(cached, context);
    const known = flights.find(key);
    const isStale = cached && now <= cached.staleUntil;
    if (!known && !turns.enter()) {
      return isStale ? useCached(cached, context) : waitForTurn(key, context, lookUp, isNegative);
    }
    const flight = known ?? startFlight(key, context, lookUp, isNegative);
    if (isStale) return useCached(cached, context);
    return join(flight, key, context, lookUp, isNegative);
  }

  /** A look-up that waits holds no more than its place in the queue: of a long list, thousands may wait. */
  async function waitForTurn<Answer extends object>(...look: Look<Answer>): Promise<Answer> {
    const [key, context, lookUp, isNegative] = look;
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
    return join(known ?? startFlight(key, context, lookUp, isNegative, queuedSince), ...look);
  }

  function join<Answer extends object>(flight: Flight<LookUpResult>, ...look: Look<Answer>): Promise<Answer> {
    const [, context] = look;
    const answer = flight.task.join(context.signal).then(({ entry, isHit }) => {
      recordUse(entry, isHit, context);
      return entry.answer as Answer;
    });
    if (flight.callerId === context.callerId) return answer;
    return answer.catch((error: unknown) => {
      if (!(error instanceof GatewayError && error.code === 'BUDGET_EXHAUSTED')) throw error;
      // The budget of the caller who started the flight; this one has another.
      context.usage.lookUps -= 1;
      return find(...look);
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

  function startFlight<Answer extends object>(
    key: string,
    { callerId, usage, freshUntil, reserveCall }: RequestContext,
    lookUp: LookUp<Answer>,
    isNegative: IsNegative<Answer>,
    queuedSince: number | null = null,
  ): Flight<LookUpResult> {
    return flights.start(
      key,
      callerId,
      (signal) =>
        load(key, isNegative, () => lookUp({ callerId, signal, usage, freshUntil, reserveCall, queuedSince })),
      ({ entry }) => {
        if (entry.version === version()) memory.set(key, entry);
      },
    );
  }
}
