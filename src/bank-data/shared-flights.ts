import { type SharedTask, startSharedTask } from '../async/shared-task.ts';

/** Lets everybody who asks the same wait for one flight: many callers, one call. */
export interface SharedFlights<Answer> {
  /**
   * Joins the flight for this key. A caller who gives up leaves it with the signal's reason; when the last one has
   * left before it landed, the flight is aborted.
   * @param depart starts the flight where none is under way; the signal is the flight's own
   */
  join(key: string, caller: AbortSignal, depart: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
}

export function createSharedFlights<Answer>(): SharedFlights<Answer> {
  const flights = new Map<string, SharedTask<Answer>>();

  return {
    async join(key, caller, depart) {
      caller.throwIfAborted();
      const underWay = flights.get(key);
      // Nobody is put on a flight that was called off, though it has yet to land.
      const flight = underWay && !underWay.isGivenUp() ? underWay : start(key, depart);
      return flight.join(caller);
    },
  };

  function start(key: string, depart: (signal: AbortSignal) => Promise<Answer>): SharedTask<Answer> {
    const land = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    const flight = startSharedTask((signal) => depart(signal).finally(land));
    flights.set(key, flight);
    return flight;
  }
}
