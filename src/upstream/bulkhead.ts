import type { Signal } from '../async/signal.ts';
import { createFairQueue, type FairQueue, type Place } from './fair-queue.ts';

interface BulkheadOptions {
  /** Maximum number of calls in flight. */
  maxConcurrency: number;
  /** Maximum number of attempts waiting for a slot; further ones are shed at once. */
  maxQueue: number;
  /** Called when a slot was returned, also by an attempt that did not use it. */
  onLeft?: () => void;
}

/**
 * Called once: with a slot, or without one if the signal aborted or the attempt has no place in the queue.
 * @returns whether the slot is used; if not, the next attempt gets it
 */
type OnTurn = (hasSlot: boolean) => boolean;

export interface Bulkhead {
  /** Takes a free slot. @returns false if there is none */
  enter(): boolean;
  /** Waits for a slot in the queue. Attempts with the same key share their turns. */
  wait(key: object, signal: Signal, onTurn: OnTurn): void;
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
  const queue = createFairQueue<Waiting>({ maxSize: maxQueue, onEvicted: (waiting) => void waiting.settle(false) });
  let inFlight = 0;

  return {
    status: () => ({ active: inFlight, queued: queue.size(), lists: queue.lists() }),
    enter() {
      if (inFlight >= maxConcurrency) return false;
      inFlight += 1;
      return true;
    },
    wait(key, signal, onTurn) {
      if (signal.aborted) onTurn(false);
      else new Waiting(queue, signal, onTurn).enter(key);
    },
    leave() {
      // The next attempt gets the slot before it is free, so that no later one takes it.
      let next = queue.shift();
      while (next && !next.settle(true)) {
        onLeft?.();
        next = queue.shift();
      }
      if (!next) inFlight -= 1;
      onLeft?.();
    },
  };
}

/** An attempt in the queue. A class, since thousands may wait: it is also the listener of its signal. */
class Waiting {
  readonly #queue: FairQueue<Waiting>;
  readonly #signal: Signal;
  readonly #onTurn: OnTurn;
  #place: Place<Waiting> | null = null;

  constructor(queue: FairQueue<Waiting>, signal: Signal, onTurn: OnTurn) {
    this.#queue = queue;
    this.#signal = signal;
    this.#onTurn = onTurn;
  }

  enter(key: object): void {
    this.#place = this.#queue.push(key, this);
    if (this.#place === null) this.#onTurn(false);
    else this.#signal.addEventListener('abort', this);
  }

  settle(hasSlot: boolean): boolean {
    this.#signal.removeEventListener('abort', this);
    return this.#onTurn(hasSlot);
  }

  /** The signal has aborted. */
  handleEvent(): void {
    if (this.#place) this.#queue.remove(this.#place);
    this.settle(false);
  }
}
