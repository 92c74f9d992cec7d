import { type SharedTask, startSharedTask } from '../async/shared-task.ts';
import type { Signal } from '../async/signal.ts';
import { FlightActivity } from '../upstream-activity.ts';

/** A look-up that several callers may wait for. */
export interface Flight<Result> {
  task: SharedTask<Result>;
  /** Of the request that started it. */
  callerId: string;
  /** Of its upstream operations. */
  activity: FlightActivity;
}

export interface Flights<Result> {
  /** Null if there is none, or it was aborted: it may settle later, but no further caller joins it. */
  find(key: string): Flight<Result> | null;
  /** @param onLanded called with the result, unless a newer flight has replaced this one */
  start(
    key: string,
    callerId: string,
    run: (signal: Signal, activity: FlightActivity) => Promise<Result>,
    onLanded: (result: Result) => void,
  ): Flight<Result>;
}

/** One flight per key. @param onEnded called when a flight has settled, also one that was replaced */
export function createFlights<Result>(onEnded: () => void): Flights<Result> {
  /**
   * Without a flight when it has settled: the tables that a `Map` leaves behind as its entries change keep what they
   * contained alive until the next full garbage collection, one in two flights with all that it refers to.
   */
  const flights = new Map<string, FlightEntry<Result>>();

  return {
    find(key) {
      const { flight = null } = flights.get(key) ?? {};
      return flight === null || flight.task.isAborted() ? null : flight;
    },
    start(key, callerId, run, onLanded) {
      const entry: FlightEntry<Result> = { flight: null };
      const activity = new FlightActivity();
      const task = startSharedTask(async (signal) => {
        try {
          const result = await run(signal, activity);
          if (flights.get(key) === entry) onLanded(result);
          return result;
        } finally {
          if (flights.get(key) === entry) flights.delete(key);
          entry.flight = null;
          onEnded();
        }
      });
      const flight = { task, callerId, activity };
      entry.flight = flight;
      flights.set(key, entry);
      return flight;
    },
  };
}

interface FlightEntry<Result> {
  flight: Flight<Result> | null;
}
