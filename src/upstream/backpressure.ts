import type { Signal } from '../async/signal.ts';
import { createLinkedList, ListNode } from './linked-list.ts';

/**
 * Delays queries with many look-ups while those of several earlier ones wait for their turn. A query that was started
 * holds memory for each of its look-ups, and with many such queries, garbage collection takes a quarter of the time.
 */
export interface Backpressure {
  /** Whether a further query should wait. */
  isHigh(): boolean;
  /** Resolves when the query may start: in the order of the calls, after a short delay, or when the signal aborts. */
  wait(signal: Signal): Promise<void>;
}

/**
 * @param waiting number of queries with look-ups that wait for their turn
 * @returns also a function to call whenever a look-up has ended
 */
export function createBackpressure(waiting: () => number): Backpressure & { relieve(): void } {
  const delayed = createLinkedList<() => void>();

  return {
    isHigh: () => delayed.first !== null || waiting() >= maxWaiting,
    wait: (signal) =>
      new Promise((resolve) => {
        const start = () => {
          node.remove();
          clearTimeout(timer);
          signal.removeEventListener('abort', start);
          resolve();
        };
        const node = new ListNode(start).appendTo(delayed);
        const timer = setTimeout(start, maxDelayMs);
        if (signal.aborted) start();
        else signal.addEventListener('abort', start);
      }),
    relieve() {
      if (delayed.first !== null && waiting() < maxWaiting) delayed.first.value();
    },
  };
}

/** With fewer, hardly more queries are answered, and a single large query would delay the others. */
const maxWaiting = 4;
/** Then the query starts and gets its turns, so that one with few look-ups is not delayed by some with a thousand. */
const maxDelayMs = 250;
