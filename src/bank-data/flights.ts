import type { SharedTask } from '../async/shared-task.ts';

/** A look-up that several callers may wait for. */
export interface Flight<Result> {
  readonly key: string;
  /** Of the request that started it. */
  readonly callerId: string;
  /**
   * Null when it has settled: the tables that a `Map` leaves behind as its entries change keep what they contained alive
   * until the next full garbage collection, one in two flights with all that it refers to.
   */
  task: SharedTask<Result> | null;
}

/** One flight per key. */
export interface Flights<Result> {
  /** Null if there is none, or it was aborted: it may settle later, but no further caller joins it. */
  find(key: string): Flight<Result> | null;
  /** Replaces one that was aborted. */
  add(flight: Flight<Result>): void;
  /** False if a newer one has replaced it. */
  has(flight: Flight<Result>): boolean;
  /** Removes a flight that has settled. */
  remove(flight: Flight<Result>): void;
}

export function createFlights<Result>(): Flights<Result> {
  const flights = new Map<string, Flight<Result>>();
  const has = (flight: Flight<Result>) => flights.get(flight.key) === flight;
  return {
    find(key) {
      const flight = flights.get(key);
      return flight?.task?.isAborted() === false ? flight : null;
    },
    add: (flight) => void flights.set(flight.key, flight),
    has,
    remove(flight) {
      flight.task = null;
      if (has(flight)) flights.delete(flight.key);
    },
  };
}
