import type { Signal } from '../../base/async/signal.ts';

interface CallQueueOptions {
  /** Maximum number of calls in flight. */
  maxConcurrency: number;
  /** Maximum number of calls that wait. */
  maxQueue: number;
}

/** A call that needs a place among those in flight. */
export interface QueuedCall {
  readonly callerId: string;
  readonly requestKey: symbol;
  /** It has a place now. Must not throw. */
  begin(): void;
  /** It has lost its place in the queue. */
  evict(): void;
}

/**
 * Limits the calls in flight and the queue, so that a slow upstream does not occupy the whole gateway. Callers take turns, and so do
 * the requests of each. If the queue is full, the caller with the most calls in it loses one, or the request with the most.
 */
export class CallQueue {
  readonly #limits: CallQueueOptions;
  /** Calls by caller and request, in the order of their turns. */
  readonly #waiting = new Map<string, Requests>();
  #active = 0;
  #queued = 0;
  #isServing = false;

  constructor(limits: CallQueueOptions) {
    this.#limits = limits;
  }

  /** Lets a call begin, now or later. @returns false if there is no place for it in the queue */
  enter(call: QueuedCall): boolean {
    if (this.#active < this.#limits.maxConcurrency && this.#queued === 0) {
      this.#active += 1;
      call.begin();
      return true;
    }
    if (this.#queued >= this.#limits.maxQueue && !this.#evictFor(call)) return false;
    let requests = this.#waiting.get(call.callerId);
    if (requests === undefined) {
      requests = new Map();
      this.#waiting.set(call.callerId, requests);
    }
    const calls = requests.get(call.requestKey);
    if (calls === undefined) requests.set(call.requestKey, [call]);
    else calls.push(call);
    this.#queued += 1;
    return true;
  }

  /** Gives the place of a call in flight to the next one, before a later one can take it. */
  readonly leave = (): void => {
    this.#active -= 1;
    // A call that cannot be sent leaves at once: thousands of them are taken in a loop.
    if (this.#isServing) return;
    this.#isServing = true;
    while (this.#queued > 0 && this.#active < this.#limits.maxConcurrency) {
      const next = this.#takeNext();
      this.#active += 1;
      next?.begin();
    }
    this.#isServing = false;
  };

  status() {
    return { active: this.#active, queued: this.#queued };
  }

  /** Takes a call that waits out of the queue. */
  remove(call: QueuedCall): void {
    const { callerId, requestKey } = call;
    const requests = this.#waiting.get(callerId);
    const calls = requests?.get(requestKey);
    const index = calls?.indexOf(call) ?? -1;
    if (requests === undefined || calls === undefined || index === -1) return;
    calls.splice(index, 1);
    this.#queued -= 1;
    if (calls.length === 0) requests.delete(requestKey);
    if (requests.size === 0) this.#waiting.delete(callerId);
  }

  #takeNext(): QueuedCall | undefined {
    for (const [callerId, requests] of this.#waiting) {
      for (const [requestKey, calls] of requests) {
        const next = calls.shift();
        this.#queued -= 1;
        // The next turn of the request comes after the caller's other requests, and that of the caller after all other callers.
        requests.delete(requestKey);
        if (calls.length > 0) requests.set(requestKey, calls);
        this.#waiting.delete(callerId);
        if (requests.size > 0) this.#waiting.set(callerId, requests);
        return next;
      }
    }
    return undefined;
  }

  /** Evicts only if the caller or request that loses a call then still has at least as many as this one. */
  #evictFor({ callerId, requestKey }: QueuedCall): boolean {
    const own: Requests = this.#waiting.get(callerId) ?? new Map();
    const largest = findLargest(this.#waiting, countCalls);
    const isOther = largest !== null && countCalls(largest[1]) > countCalls(own) + 1;
    const longest = findLargest(isOther ? largest[1] : own, (calls) => calls.length);
    const last = longest?.[1].at(-1);
    const isLonger = (longest?.[1].length ?? 0) > (own.get(requestKey)?.length ?? 0) + 1;
    if (last === undefined || !(isOther || isLonger)) return false;
    this.remove(last);
    last.evict();
    return true;
  }
}

/** Takes a place for other work than a call. Resolves to false if it gets none in time, or its client leaves. */
export function takePlace(queue: CallQueue, signal: Signal, maxWaitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (hasPlace: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve(hasPlace);
    };
    const call = {
      ...{ callerId: '', requestKey: Symbol('place') },
      begin: () => settle(true),
      evict: () => settle(false),
    };
    const giveUp = () => {
      queue.remove(call);
      settle(false);
    };
    const timer = setTimeout(giveUp, maxWaitMs).unref();
    signal.addEventListener('abort', giveUp);
    if (signal.aborted || maxWaitMs <= 0 || !queue.enter(call)) settle(false);
  });
}

/** Calls by request, in the order of their turns. */
type Requests = Map<symbol, QueuedCall[]>;

function countCalls(requests: Requests): number {
  let count = 0;
  for (const calls of requests.values()) count += calls.length;
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
