import { setMaxListeners } from 'node:events';

/** Lets everybody who asks the same wait for one flight: many callers, one call. */
export interface SharedFlights<Answer> {
  /**
   * Joins the flight for this key. A caller who gives up leaves it with the signal's reason; when the last one has
   * left before it landed, the flight is aborted.
   * @param depart starts the flight where none is under way; the signal is the flight's own
   */
  join(key: string, caller: AbortSignal, depart: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
}

interface Flight<Answer> {
  answer: Promise<Answer>;
  controller: AbortController;
  waiting: number;
}

export function createSharedFlights<Answer>(): SharedFlights<Answer> {
  const flights = new Map<string, Flight<Answer>>();

  return {
    async join(key, caller, depart) {
      caller.throwIfAborted();
      const flight = flights.get(key) ?? start(key, depart);
      flight.waiting += 1;
      try {
        return await untilGone(flight.answer, caller);
      } finally {
        flight.waiting -= 1;
        if (flight.waiting === 0 && flights.get(key) === flight) {
          flights.delete(key);
          flight.controller.abort(caller.reason);
        }
      }
    },
  };

  function start(key: string, depart: (signal: AbortSignal) => Promise<Answer>): Flight<Answer> {
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    const land = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    const answer = depart(controller.signal).finally(land);
    // Whoever waits is told how it ended; a flight that all have left may fail unseen.
    answer.catch(() => {});
    const flight = { answer, controller, waiting: 0 };
    flights.set(key, flight);
    return flight;
  }
}

function untilGone<Answer>(answer: Promise<Answer>, caller: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(caller.reason);
    caller.addEventListener('abort', leave);
    answer.then(resolve, reject).finally(() => caller.removeEventListener('abort', leave));
  });
}
