import type { Signal } from '../async/signal.ts';
import { createFairQueue } from './fair-queue.ts';

interface BulkheadOptions {
  /** Maximum number of calls in flight. */
  maxConcurrency: number;
  /** Maximum number of attempts waiting for a slot; further ones are shed at once. */
  maxQueue: number;
}

export interface Bulkhead {
  /** Takes a free slot. @returns false if there is none */
  enter(): boolean;
  /**
   * Waits for a slot in the queue. Attempts with the same key share their turns.
   * @returns false if the signal aborted, or the attempt has no place in the queue
   */
  wait(key: object, signal: Signal): Promise<boolean>;
  status(): { active: number; queued: number };
  /** Returns a slot. */
  leave(): void;
}

/**
 * Limits the calls in flight and the queue, so that a slow upstream does not occupy the whole gateway. Requests take
 * turns in the queue, and if it is full, the request with the most attempts in it loses one.
 */
export function createBulkhead({ maxConcurrency, maxQueue }: BulkheadOptions): Bulkhead {
  const queue = createFairQueue<(hasSlot: boolean) => void>({
    maxSize: maxQueue,
    onEvicted: (settle) => settle(false),
  });
  let inFlight = 0;

  return {
    status: () => ({ active: inFlight, queued: queue.size() }),
    enter() {
      if (inFlight >= maxConcurrency) return false;
      inFlight += 1;
      return true;
    },
    wait: (key, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(false);
        const leaveQueue = queue.push(key, settle);
        if (leaveQueue === null) return resolve(false);
        signal.addEventListener('abort', onAbort);

        function onAbort() {
          leaveQueue?.();
          settle(false);
        }
        function settle(hasSlot: boolean) {
          signal.removeEventListener('abort', onAbort);
          resolve(hasSlot);
        }
      }),
    leave() {
      // The next attempt gets the slot before it is free, so that no later one takes it.
      const startNext = queue.shift();
      if (startNext) startNext(true);
      else inFlight -= 1;
    },
  };
}
