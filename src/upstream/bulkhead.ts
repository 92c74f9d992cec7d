import type { Signal } from '../async/signal.ts';
import { createFairQueue, type FairQueue, type Place } from './fair-queue.ts';

interface BulkheadOptions {
  /** Maximum number of calls in flight. */
  maxConcurrency: number;
  /** Maximum number of attempts waiting for a slot; further ones are shed at once. */
  maxQueue: number;
  /** Called when a slot was returned. */
  onLeft?: () => void;
}

export interface Bulkhead {
  /** Takes a free slot. @returns false if there is none */
  enter(): boolean;
  /**
   * Waits for a slot in the queue. Attempts with the same key share their turns.
   * @returns false if the signal aborted, or the attempt has no place in the queue
   */
  wait(key: object, signal: Signal): Promise<boolean>;
  /** `lists` is the number of keys with more than one attempt in the queue. */
  status(): { active: number; queued: number; lists: number };
  /** Returns a slot. */
  leave(): void;
}

/**
 * Limits the calls in flight and the queue, so that a slow upstream does not occupy the whole gateway. Requests take
 * turns in the queue, and if it is full, the request with the most attempts in it loses one.
 */
export function createBulkhead({ maxConcurrency, maxQueue, onLeft }: BulkheadOptions): Bulkhead {
  const queue = createFairQueue<Waiting>({ maxSize: maxQueue, onEvicted: (waiting) => waiting.settle(false) });
  let inFlight = 0;

  return {
    status: () => ({ active: inFlight, queued: queue.size(), lists: queue.lists() }),
    enter() {
      if (inFlight >= maxConcurrency) return false;
      inFlight += 1;
      return true;
    },
    wait: (key, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve(false);
        else new Waiting(queue, signal, resolve).enter(key);
      }),
    leave() {
      // The next attempt gets the slot before it is free, so that no later one takes it.
      const next = queue.shift();
      if (next) next.settle(true);
      else inFlight -= 1;
      onLeft?.();
    },
  };
}

/** An attempt in the queue. A class, since thousands may wait: it is also the listener of its signal. */
class Waiting {
  readonly #queue: FairQueue<Waiting>;
  readonly #signal: Signal;
  readonly #resolve: (hasSlot: boolean) => void;
  #place: Place<Waiting> | null = null;

  constructor(queue: FairQueue<Waiting>, signal: Signal, resolve: (hasSlot: boolean) => void) {
    this.#queue = queue;
    this.#signal = signal;
    this.#resolve = resolve;
  }

  enter(key: object): void {
    this.#place = this.#queue.push(key, this);
    if (this.#place === null) this.#resolve(false);
    else this.#signal.addEventListener('abort', this);
  }

  settle(hasSlot: boolean): void {
    this.#signal.removeEventListener('abort', this);
    this.#resolve(hasSlot);
  }

  /** The signal has aborted. */
  handleEvent(): void {
    if (this.#place) this.#queue.remove(this.#place);
    this.settle(false);
  }
}
