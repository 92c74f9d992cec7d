import { SyncPromise } from '../async/sync-promise.ts';
import type { Trace } from '../trace.ts';
import type { Bulkhead } from '../upstream/bulkhead.ts';
import type { CreateEntry } from './cache-entry.ts';
import { Flight } from './flight.ts';
import type { LookUp, LookUpResult } from './look-up.ts';
import type { LookUpTable } from './look-up-table.ts';
import type { CacheEntry, SharedCache } from './shared-cache.ts';

/** One flight per key. */
export interface Flights {
  /** Null if there is none, or it was aborted: it may settle later, but no further caller joins it. */
  find(key: string): Flight | null;
  /**
   * Starts one in the turn that its caller has taken, and leaves the turn when it has settled. Its result is kept in
   * memory.
   * @param queuedSince when the caller began to wait for its turn, by `performance.now()`; null: it did not wait
   */
  start(look: LookUp<object>, queuedSince: number | null, trace: Trace | null): Flight;
}

interface FlightsOptions {
  turns: Pick<Bulkhead, 'leave'>;
  table: LookUpTable<Flight>;
  sharedCache: SharedCache | null;
  createEntry: CreateEntry;
  /** Of the data that answers come from. */
  version: () => string | null;
}

export function createFlights({ turns, table, sharedCache, createEntry, version }: FlightsOptions): Flights {
  const landing = { onAnswered, onFailed };

  return {
    find(key) {
      const flight = table.flightOf(key);
      return flight?.aborted === false ? flight : null;
    },
    start(look, queuedSince, trace) {
      const flight = new Flight(look, queuedSince, trace, landing);
      table.begin(flight);
      if (sharedCache === null) load(flight, look);
      else void sharedCache.get(flight.key).then((shared) => loadUnlessFresh(flight, look, shared));
      return flight;
    },
  };

  function loadUnlessFresh(flight: Flight, look: LookUp<object>, shared: CacheEntry | null): void {
    if (shared?.version === version() && Date.now() <= shared.freshUntil) {
      land(flight, { entry: shared, isHit: true });
      return;
    }
    flight.shared = shared;
    load(flight, look);
  }

  function load(flight: Flight, { lookUp }: LookUp<object>): void {
    // Whatever fails, the turn must be left.
    try {
      SyncPromise.continue(lookUp(flight), flight);
    } catch (error) {
      onFailed(flight, error);
    }
  }

  function onAnswered(flight: Flight, answer: object): void {
    let entry: CacheEntry;
    try {
      entry = createEntry(answer, flight.isNegative(answer));
      sharedCache?.set(flight.key, entry);
    } catch (error) {
      onFailed(flight, error);
      return;
    }
    land(flight, { entry, isHit: false });
  }

  function onFailed(flight: Flight, error: unknown): void {
    const { shared } = flight;
    const isOutdated = version() !== null && shared?.version !== version();
    if (shared && !isOutdated && Date.now() <= shared.staleUntil) land(flight, { entry: shared, isHit: true });
    else fail(flight, error);
  }

  function land(flight: Flight, result: VersionedResult): void {
    try {
      if (table.isCurrent(flight) && result.entry.version === version()) keep(flight, result);
    } finally {
      end(flight);
      flight.resolve(result);
    }
  }

  /** Stores the entry, unless the present one is newer, which only happens to an entry of the shared cache. */
  function keep(flight: Flight, { entry, isHit }: LookUpResult): void {
    const present = isHit ? table.entryOf(flight.key) : null;
    if (present === null || present.freshUntil <= entry.freshUntil) table.keep(flight, entry);
  }

  function fail(flight: Flight, error: unknown): void {
    end(flight);
    flight.reject(error);
  }

  function end(flight: Flight): void {
    if (table.isCurrent(flight)) table.end(flight);
    turns.leave();
  }
}

interface VersionedResult extends LookUpResult {
  entry: CacheEntry;
}
