import type { Signal } from '../../base/async/signal.ts';

interface CallQueueOptions {
  /** Maximum number of calls in flight. */
  maxConcurrency: number;
  /** Maximum number of attempts that wait for a slot. */
  maxQueue: number;
}

export type CallQueue = ReturnType<typeof createCallQueue>;

/**
 * Limits the calls in flight and the queue, so that a slow upstream does not occupy the whole gateway. Callers take turns, and so do
 * the requests of each. If the queue is full, the caller with the most attempts in it loses one, or the request with the most.
 */
export function createCallQueue({ maxConcurrency, maxQueue }: CallQueueOptions) {
  /** Attempts by caller and request, in the order of their turns. */
  const waiting = new Map<string, Requests>();
  let active = 0;
  let queued = 0;

  return {
    /**
     * Takes a slot. A promise while all are in use: it resolves to true when the attempt has a slot, and to false if it has no
     * place in the queue or its signal has aborted.
     */
    enter(requestKey: symbol, signal: Signal, callerId = ''): true | Promise<boolean> {
      if (active >= maxConcurrency) return wait(requestKey, signal, callerId);
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

  async function wait(requestKey: symbol, signal: Signal, callerId: string): Promise<boolean> {
    if (signal.aborted || (queued >= maxQueue && !evictFor(requestKey, callerId))) return false;
    let onAbort = () => {};
    const hasSlot = await new Promise<boolean>((settle) => {
      onAbort = () => {
        remove(callerId, requestKey, settle);
        settle(false);
      };
      signal.addEventListener('abort', onAbort);
      const requests: Requests = waiting.get(callerId) ?? new Map();
      const attempts = requests.get(requestKey) ?? [];
      waiting.set(callerId, requests.set(requestKey, attempts));
      attempts.push(settle);
      queued += 1;
    });
    signal.removeEventListener('abort', onAbort);
    return hasSlot;
  }

  function remove(callerId: string, requestKey: symbol, settle: Settle): void {
    const requests = waiting.get(callerId);
    const attempts = requests?.get(requestKey);
    const index = attempts?.indexOf(settle) ?? -1;
    if (requests === undefined || attempts === undefined || index === -1) return;
    attempts.splice(index, 1);
    queued -= 1;
    if (attempts.length === 0) requests.delete(requestKey);
    if (requests.size === 0) waiting.delete(callerId);
  }

  function takeNext(): Settle | undefined {
    const [turn] = waiting;
    if (turn === undefined) return undefined;
    const [callerId, requests] = turn;
    const [request] = requests;
    if (request === undefined) return undefined;
    const [requestKey, attempts] = request;
    const next = attempts.shift();
    queued -= 1;
    // The next turn of the request comes after the caller's other requests, and that of the caller after all other callers.
    requests.delete(requestKey);
    if (attempts.length > 0) requests.set(requestKey, attempts);
    waiting.delete(callerId);
    if (requests.size > 0) waiting.set(callerId, requests);
    return next;
  }

  /** Evicts only if the caller or request that loses an attempt then still has at least as many as this one. */
  function evictFor(requestKey: symbol, callerId: string): boolean {
    const own: Requests = waiting.get(callerId) ?? new Map();
    const largest = findLargest(waiting, countAttempts);
    const isOther = largest !== null && countAttempts(largest[1]) > countAttempts(own) + 1;
    const [loserId, requests] = isOther ? largest : [callerId, own];
    const longest = findLargest(requests, (attempts) => attempts.length);
    const last = longest?.[1].at(-1);
    const isLonger = (longest?.[1].length ?? 0) > (own.get(requestKey)?.length ?? 0) + 1;
    if (longest === null || last === undefined || !(isOther || isLonger)) return false;
    remove(loserId, longest[0], last);
    last(false);
    return true;
  }
}

/** Attempts by request, in the order of their turns. */
type Requests = Map<symbol, Settle[]>;

function countAttempts(requests: Requests): number {
  let count = 0;
  for (const attempts of requests.values()) count += attempts.length;
  return count;
}

/** The last entry of those with the largest value: its turn is the furthest away. */
function findLargest<Key, Value>(entries: Iterable<[Key, Value]>, sizeOf: (value: Value) => number) {
  let largest: { entry: [Key, Value]; size: number } | null = null;
  for (const entry of entries) {
    const size = sizeOf(entry[1]);
    if (largest === null || size >= largest.size) largest = { entry, size };
  }
  return largest?.entry ?? null;
}

/** Ends the wait of an attempt. */
type Settle = (hasSlot: boolean) => void;
