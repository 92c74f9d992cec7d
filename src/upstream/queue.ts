import type { Signal } from '../async/signal.ts';

interface CallQueueOptions {
  /** Maximum number of calls in flight. */
  maxConcurrency: number;
  /** Maximum number of attempts that wait for a slot. */
  maxQueue: number;
}

export type CallQueue = ReturnType<typeof createCallQueue>;

/**
 * Limits the calls in flight and the queue, so that a slow upstream does not occupy the whole gateway. If the queue is full, the
 * request with the most attempts in it loses its last one.
 */
export function createCallQueue({ maxConcurrency, maxQueue }: CallQueueOptions) {
  /** Attempts by request, in the order of their turns. */
  const waiting = new Map<symbol, Settle[]>();
  let active = 0;
  let queued = 0;

  return {
    /**
     * Takes a slot. A promise while all are in use: it resolves to true when the attempt has a slot, and to false if it has no
     * place in the queue or its signal has aborted. Requests take turns, however many attempts they have in the queue.
     */
    enter(requestKey: symbol, signal: Signal): true | Promise<boolean> {
      if (active >= maxConcurrency) return wait(requestKey, signal);
      active += 1;
      return true;
    },
    /** Returns a slot. */
    leave(): void {
      // The next attempt gets the slot before it is free, so that no later one takes it.
      if (queued > 0) takeNext()?.(true);
      else active -= 1;
    },
    status: () => ({ active, queued }),
  };

  async function wait(requestKey: symbol, signal: Signal): Promise<boolean> {
    if (signal.aborted || (queued >= maxQueue && !evictFor(requestKey))) return false;
    let onAbort = () => {};
    const hasSlot = await new Promise<boolean>((settle) => {
      onAbort = () => {
        remove(requestKey, settle);
        settle(false);
      };
      signal.addEventListener('abort', onAbort);
      const attempts = waiting.get(requestKey) ?? [];
      waiting.set(requestKey, attempts);
      attempts.push(settle);
      queued += 1;
    });
    signal.removeEventListener('abort', onAbort);
    return hasSlot;
  }

  function remove(requestKey: symbol, settle: Settle): void {
    const attempts = waiting.get(requestKey);
    const index = attempts?.indexOf(settle) ?? -1;
    if (attempts === undefined || index === -1) return;
    attempts.splice(index, 1);
    queued -= 1;
    if (attempts.length === 0) waiting.delete(requestKey);
  }

  function takeNext(): Settle | undefined {
    const [turn] = waiting;
    if (turn === undefined) return undefined;
    const [requestKey, attempts] = turn;
    const next = attempts.shift();
    queued -= 1;
    // Its next turn comes after those of all other requests.
    waiting.delete(requestKey);
    if (attempts.length > 0) waiting.set(requestKey, attempts);
    return next;
  }

  /** Evicts only if the request that loses an attempt then still has at least as many as this one. */
  function evictFor(requestKey: symbol): boolean {
    let [longestKey, longest] = [requestKey, waiting.get(requestKey) ?? []];
    const own = longest.length;
    for (const [key, attempts] of waiting)
      if (attempts.length > longest.length) [longestKey, longest] = [key, attempts];
    const last = longest.at(-1);
    if (last === undefined || longest.length <= own + 1) return false;
    remove(longestKey, last);
    last(false);
    return true;
  }
}

/** Ends the wait of an attempt. */
type Settle = (hasSlot: boolean) => void;
