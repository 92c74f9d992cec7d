import { SharedTask } from '../async/shared-task.ts';
import type { Trace } from '../trace.ts';
import type { Bulkhead } from '../upstream/bulkhead.ts';
import type { CreateEntry } from './cache-entry.ts';
import type { LookUp, LookUpResult } from './look-up.ts';
import type { MemoryCache } from './memory-cache.ts';
import type { CacheEntry, SharedCache } from './shared-cache.ts';
import { createSlotMap } from './slot-map.ts';

/** A look-up that several callers may wait for. */
export class Flight extends SharedTask<LookUpResult> {
  readonly key: string;
  /** Of the request that started it. */
  readonly callerId: string;
  /** In the map of flights. A flight that replaced this one has the same. */
  slot = -1;

  constructor(key: string, callerId: string) {
    super();
    this.key = key;
    this.callerId = callerId;
  }
}

/** One flight per key. */
export interface Flights {
  /** Null if there is none, or it was aborted: it may settle later, but no further caller joins it. */
  find(key: string): Flight | null;
  /**
   * Starts one in the turn that its caller has taken, and leaves the turn when it has settled. Its result is kept in
   * memory.
   * @param queuedSince when the caller began to wait for its turn, by `performance.now()`; null: it did not wait
   */
  start<Answer extends object>(look: LookUp<Answer>, queuedSince: number | null, trace: Trace | null): Flight;
}

interface FlightsOptions {
  turns: Pick<Bulkhead, 'leave'>;
  memory: Pick<MemoryCache, 'get' | 'set'>;
  sharedCache: SharedCache | null;
  createEntry: CreateEntry;
  /** Of the data that answers come from. */
  version: () => string | null;
}

export function createFlights({ turns, memory, sharedCache, createEntry, version }: FlightsOptions): Flights {
  const flights = createSlotMap<Flight>();

  return {
    find(key) {
      const flight = flights.get(key);
      return flight?.aborted === false ? flight : null;
    },
    start(look, queuedSince, trace) {
      const flight = new Flight(look.key, look.context.callerId);
      flight.slot = flights.set(flight.key, flight);
      if (sharedCache === null) load(flight, look, queuedSince, trace, null);
      else void sharedCache.get(flight.key).then((shared) => load(flight, look, queuedSince, trace, shared));
      return flight;
    },
  };

  function load<Answer extends object>(
    flight: Flight,
    { context, lookUp, isNegative }: LookUp<Answer>,
    queuedSince: number | null,
    trace: Trace | null,
    shared: CacheEntry | null,
  ): void {
    if (shared?.version === version() && Date.now() <= shared.freshUntil) {
      land(flight, { entry: shared, isHit: true });
      return;
    }
    const { callerId, usage, activity, freshUntil, reserveCall } = context;
    const flightContext = {
      callerId,
      signal: flight,
      task: flight,
      usage,
      activity,
      freshUntil,
      reserveCall,
      trace,
      queuedSince,
    };
    const onAnswered = (answer: Answer) => {
      let entry: CacheEntry;
      try {
        entry = createEntry(answer, isNegative(answer));
        sharedCache?.set(flight.key, entry);
      } catch (error) {
        onFailed(error);
        return;
      }
      land(flight, { entry, isHit: false });
    };
    const onFailed = (error: unknown) => {
      const isOutdated = version() !== null && shared?.version !== version();
      if (shared && !isOutdated && Date.now() <= shared.staleUntil) land(flight, { entry: shared, isHit: true });
      else fail(flight, error);
    };
    // Whatever fails, the turn must be left.
    try {
      lookUp(flightContext).then(onAnswered, onFailed);
    } catch (error) {
      onFailed(error);
    }
  }

  function land(flight: Flight, result: LookUpResult): void {
    if (isCurrent(flight) && result.entry.version === version()) keep(flight.key, result);
    end(flight);
    flight.resolve(result);
  }

  /** Stores the entry, unless the present one is newer, which only happens to an entry of the shared cache. */
  function keep(key: string, { entry, isHit }: LookUpResult): void {
    const present = isHit ? memory.get(key) : undefined;
    if (present === undefined || present.freshUntil <= entry.freshUntil) memory.set(key, entry);
  }

  function fail(flight: Flight, error: unknown): void {
    end(flight);
    flight.reject(error);
  }

  function end(flight: Flight): void {
    if (isCurrent(flight)) flights.delete(flight.key, flight.slot);
    turns.leave();
  }

  /** False if a newer one has replaced it, after it was aborted. */
  function isCurrent(flight: Flight): boolean {
    return flights.at(flight.slot) === flight;
  }
}
