import { SharedTask } from '../async/shared-task.ts';
import type { Signal } from '../async/signal.ts';
import { GatewayError } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';
import type { Bulkhead } from '../upstream/bulkhead.ts';
import { createShedError } from '../upstream/upstream-error.ts';
import { createEntryFactory, recordUse, useCached } from './cache-entry.ts';
import { type DataVersion, noDataVersion } from './data-version.ts';
import { createFlights, type Flight } from './flights.ts';
import type { LookUp, LookUpResult } from './look-up.ts';
import { createMemoryCache } from './memory-cache.ts';
import type { SharedCache } from './shared-cache.ts';

export interface LookUpCache {
  /** The cached answer, or the one looked up. A stale answer is returned at once while one flight revalidates it. */
  find<Answer extends object>(look: LookUp<Answer>): Promise<Answer>;
  /** Entries in memory, and look-ups that wait for their turn. */
  status(): CacheStatus & { waiting: number };
}

interface LookUpCacheOptions {
  /** Limits the look-ups that run at a time, and those that wait for their turn; further ones fail at once. */
  turns: Bulkhead;
  freshMs: number;
  /** Maximum age of a served answer. After `freshMs` it is served only while it is revalidated or the service fails. */
  maxAgeMs: number;
  maxBytes: number;
  sharedCache?: SharedCache | null;
  events: Pick<Events, 'flightJoined'>;
  random?: () => number;
  /** Answers that come from data of another version are not used. */
  dataVersion?: Pick<DataVersion, 'current' | 'onChanged'>;
}

/** Look-ups in memory, bounded in bytes: stale while revalidate, stale if error, one flight per key. */
export function createLookUpCache({
  turns,
  freshMs,
  maxAgeMs,
  maxBytes,
  sharedCache = null,
  events,
  random = Math.random,
  dataVersion = noDataVersion,
}: LookUpCacheOptions): LookUpCache {
  const memory = createMemoryCache(maxBytes);
  const version = dataVersion.current;
  const createEntry = createEntryFactory({ freshMs, maxAgeMs, random, version });
  const flights = createFlights<LookUpResult>();
  dataVersion.onChanged(memory.clear);

  return { find, status: () => ({ ...memory.status(), waiting: turns.status().queued }) };

  /** Not async: an answer that is in memory costs no more than its promise. */
  function find<Answer extends object>(look: LookUp<Answer>): Promise<Answer> {
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
    if (isStale) return useCached(cached, context);
    if (known) events.flightJoined();
    return join(flight, look);
  }

  /** A look-up that waits holds no more than its place in the queue: of a long list, thousands may wait. */
  async function waitForTurn<Answer extends object>(look: LookUp<Answer>): Promise<Answer> {
    const { key, context } = look;
    const { trace } = context;
    const queuedSince = performance.now();
    context.activity.begin();
    const hasTurn = await turns.wait(context.usage, context.signal);
    context.activity.end();
    if (hasTurn && context.signal.aborted) turns.leave();
    context.signal.throwIfAborted();
    if (!hasTurn) throw createShedError('bank-data');
    const cached = memory.get(key);
    const known = flights.find(key);
    const isFresh = cached && Date.now() <= cached.freshUntil;
    if (isFresh || known) turns.leave();
    if (isFresh) return useCached(cached, context);
    if (known) events.flightJoined();
    return join(known ?? startFlight(look, queuedSince, trace), look);
  }

  function join<Answer extends object>(flight: Flight<LookUpResult>, look: LookUp<Answer>): Promise<Answer> {
    const { context } = look;
    const { activity } = context;
    activity.begin();
    const use = ({ entry, isHit }: LookUpResult) => {
      activity.end();
      recordUse(entry, isHit, context);
      return entry.answer as Answer;
    };
    const answer = (flight.task as SharedTask<LookUpResult>).join(context.signal, use, () => activity.end());
    if (flight.callerId === context.callerId) return answer;
    return answer.catch((error: unknown) => {
      if (!(error instanceof GatewayError && error.code === 'BUDGET_EXHAUSTED')) throw error;
      // The budget of the caller who started the flight; this one has another.
      context.usage.lookUps -= 1;
      return find(look);
    });
  }

  function startFlight<Answer extends object>(
    { key, context, lookUp, isNegative }: LookUp<Answer>,
    queuedSince: number | null = null,
    trace = context.trace,
  ): Flight<LookUpResult> {
    const { callerId, usage, activity, freshUntil, reserveCall } = context;
    const flight: Flight<LookUpResult> = { key, callerId, task: null };
    flights.add(flight);
    flight.task = new SharedTask(load);
    return flight;

    async function load(signal: Signal): Promise<LookUpResult> {
      const shared = sharedCache && (await sharedCache.get(key));
      try {
        const isFresh = shared?.version === version() && Date.now() <= shared.freshUntil;
        if (isFresh) return land({ entry: shared, isHit: true });
        const answer = await lookUp({ callerId, signal, usage, activity, freshUntil, reserveCall, trace, queuedSince });
        const entry = createEntry(answer, isNegative(answer));
        sharedCache?.set(key, entry);
        return land({ entry, isHit: false });
      } catch (error) {
        const isOutdated = version() !== null && shared?.version !== version();
        if (!shared || isOutdated || Date.now() > shared.staleUntil) throw error;
        return land({ entry: shared, isHit: true });
      } finally {
        flights.remove(flight);
        turns.leave();
      }
    }

    function land(result: LookUpResult): LookUpResult {
      if (flights.has(flight) && result.entry.version === version()) memory.set(key, result.entry);
      return result;
    }
  }
}
