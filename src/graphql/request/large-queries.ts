import type { Signal } from '../../async/signal.ts';
import { Deadline } from '../../upstream/deadline.ts';
import { createCallQueue } from '../../upstream/queue.ts';

/** More than this, as much as the look-ups of seventeen IBANs at least: such a query waits for its turn. */
export const largeQueryCost = 200;

/**
 * Large queries take turns, four at a time: their look-ups use all calls to the service between them. With more in progress,
 * none would end sooner, and each holds memory for its look-ups. A query waits before it is executed: what waits gets into the
 * old generation of the heap, and would keep all that is created for the query later from being collected soon.
 */
export function createLargeQueryTurns() {
  const turns = createCallQueue({ maxConcurrency: 4, maxQueue: Number.MAX_SAFE_INTEGER });

  return {
    /** Executes a query in its turn, or without one: after 250 ms, or at once when its client leaves. */
    async takeTurn<Result>(signal: Signal, execute: () => Result | Promise<Result>): Promise<Result> {
      const wait = new Deadline(signal, maxWaitMs);
      const hasTurn = await turns.enter(Symbol('large query'), wait);
      wait.end();
      try {
        return await execute();
      } finally {
        if (hasTurn) turns.leave();
      }
    },
  };
}

/** Then a query begins without a turn, so that those before it with a thousand look-ups do not delay it further. */
const maxWaitMs = 250;
