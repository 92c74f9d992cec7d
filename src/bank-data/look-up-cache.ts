import { SyncPromise } from '../async/sync-promise.ts';
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
  find<Answer extends object>(look: LookUp<Answer>): PromiseLike<Answer>;
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
  const flights = createFlights({ turns, memory, sharedCache, createEntry, version });
  dataVersion.onChanged(memory.clear);

  return { find, status: () => ({ ...memory.status(), waiting: turns.status().queued }) };

  /** Not async: an answer that is in memory costs no more than its promise. */
  function find<Answer extends object>(look: LookUp<Answer>): PromiseLike<Answer> {
    const { key, context } = look;
    if (context.signal.aborted) return Promise.reject(context.signal.reason);
    context.usage.lookUps += 1;
    const cached = memory.get(key);
    const now = Date.now();
    if (cached && now <= cached.freshUntil) return useCached(cached, context);
    const known = flights.find(key);
    const flight = known ?? (turns.enter() ? flights.start(look, null, context.trace) : null);
    if (cached && now <= cached.staleUntil) return useCached(cached, context);
    if (known) events.flightJoined();
    const answer = new SyncPromise<Answer>();
    waitFor(flight, look, answer);
    return answer;
  }

  /**
   * Waits for a flight or, if there is none, first for a turn to start one. Of a long list, thousands may wait, so they
   * have one promise for all of it.
   */
  function waitFor<Answer extends object>(
    known: Flight | null,
    look: LookUp<Answer>,
    answer: SyncPromise<Answer>,
  ): void {
    const { key, context } = look;
    const { signal, usage, activity } = context;
    // That of the context changes: it is the span of this batch only until all its look-ups have begun.
    const { trace } = context;
    const onLanded = ({ entry, isHit }: LookUpResult) => {
      activity.end();
      recordUse(entry, isHit, context);
      answer.resolve(entry.answer as Answer);
    };
    const onFailed = (error: unknown) => {
      activity.end();
      if (flight?.callerId === context.callerId || !isBudgetError(error)) return answer.reject(error);
      // The budget of the caller who started the flight; this one has another.
      usage.lookUps -= 1;
      find(look).then(
        (found) => answer.resolve(found),
        (reason) => answer.reject(reason),
      );
    };

    let flight = known;
    activity.begin();
    if (flight) {
      flight.join(signal, onLanded, onFailed);
      return;
    }
    const queuedSince = performance.now();
    turns.wait(usage, signal, (hasTurn) => {
      // The signal may be calling its listeners, one of which has left the turn that this look-up gets.
      if (!hasTurn || signal.aborted) {
        onFailed(signal.aborted ? signal.reason : createShedError('bank-data'));
        return false;
      }
      const cached = memory.get(key);
      if (cached && Date.now() <= cached.freshUntil) {
        onLanded({ entry: cached, isHit: true });
        return false;
      }
      const running = flights.find(key);
      if (running) events.flightJoined();
      flight = running ?? flights.start(look, queuedSince, trace);
      flight.join(signal, onLanded, onFailed);
      return running === null;
    });
  }
}

function isBudgetError(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'BUDGET_EXHAUSTED';
}
