import type { Events } from '../telemetry/events.ts';
import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';
import type { Bulkhead } from '../upstream/bulkhead.ts';
import { createEntryFactory, useCached } from './cache-entry.ts';
import { type DataVersion, noDataVersion } from './data-version.ts';
import type { Flight } from './flight.ts';
import { createFlights } from './flights.ts';
import type { LookUp } from './look-up.ts';
import { createLookUpTable } from './look-up-table.ts';
import type { SharedCache } from './shared-cache.ts';
import { WaitingLookUp } from './waiting-look-up.ts';

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
  const table = createLookUpTable<Flight>(maxBytes);
  const version = dataVersion.current;
  const createEntry = createEntryFactory({ freshMs, maxAgeMs, random, version });
  const flights = createFlights({ turns, table, sharedCache, createEntry, version });
  const waitingOptions = { turns, table, flights, find, onJoined: events.flightJoined };
  dataVersion.onChanged(table.clear);

  return { find, status: () => ({ ...table.status(), waiting: turns.status().queued }) };

  /** Not async: an answer that is in memory costs no more than its promise. */
  function find<Answer extends object>(look: LookUp<Answer>): PromiseLike<Answer> {
    const { key, context } = look;
    if (context.signal.aborted) return Promise.reject(context.signal.reason);
    context.usage.lookUps += 1;
    const cached = table.entryOf(key);
    const now = Date.now();
    if (cached && now <= cached.freshUntil) return useCached(cached, context);
    const known = flights.find(key);
    const flight = known ?? (turns.enter() ? flights.start(look, null, context.trace) : null);
    if (cached && now <= cached.staleUntil) return useCached(cached, context);
    if (known) events.flightJoined();
    const waiting = new WaitingLookUp(look, waitingOptions);
    waiting.start(flight);
    return waiting.answer;
  }
}
