import type { Signal } from '../async/signal.ts';
import { createFairQueue } from './fair-queue.ts';
import { type Send, shed, shedOrThrow } from './operation.ts';

interface BulkheadOptions {
  /** Maximum number of calls in flight. */
  maxConcurrency: number;
  /** Maximum number of attempts waiting for a slot; further ones are shed at once. */
  maxQueue: number;
}

/**
 * Limits the calls in flight and the queue, so that a slow upstream does not occupy the whole gateway. Requests take
 * turns in the queue, and if it is full, the request with the most attempts in it loses one. An attempt waits at most
 * until its deadline. After the queue, a read has only the remaining time; for a write the deadline restarts.
 */
export function withBulkhead(send: Send, { maxConcurrency, maxQueue }: BulkheadOptions): Send {
  const queue = createFairQueue<(hasSlot: boolean) => void>({
    maxSize: maxQueue,
    onEvicted: (settle) => settle(false),
  });
  let inFlight = 0;

  return async (request, deadline) => {
    if (inFlight < maxConcurrency) inFlight += 1;
    else if (!(await waitForSlot(request.queueKey ?? sharedKey, deadline.signal))) {
      return deadline.signal.aborted ? shedOrThrow(deadline) : shed;
    }
    try {
      if (deadline.signal.aborted) return await shedOrThrow(deadline);
      if (request.method === 'POST') deadline.restart();
      return await send(request, deadline);
    } finally {
      passOnSlot();
    }
  };

  /** @returns false if the attempt left the queue without a slot */
  function waitForSlot(key: object, signal: Signal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const leave = queue.push(key, settle);
      if (leave === null) return resolve(false);
      signal.addEventListener('abort', onAbort);

      function onAbort() {
        leave?.();
        settle(false);
      }
      function settle(hasSlot: boolean) {
        signal.removeEventListener('abort', onAbort);
        resolve(hasSlot);
      }
    });
  }

  /** The next attempt gets the slot before it is free, so that no later one takes it. */
  function passOnSlot(): void {
    const startNext = queue.shift();
    if (startNext) startNext(true);
    else inFlight -= 1;
  }
}

/** Of attempts without a key. */
const sharedKey = {};
