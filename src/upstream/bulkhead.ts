import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import type { RestClient, RestFailure } from './upstream-client.ts';

interface BulkheadOptions {
  /** Longest wait in line, in milliseconds: the deadline of an operation that asks for no shorter one. */
  timeoutMs: number;
  /** Most calls in flight. */
  maxConcurrency?: number;
  /** Most calls that wait in line; further ones are shed at once. */
  maxQueue?: number;
}

/**
 * Keeps a slow upstream from holding the whole gateway: so many calls in flight, so many in line, no more, and none
 * that waits longer than its deadline. A read has what is left of the deadline when its turn comes; a write has all of
 * it, for one that is cut short was paid for in vain.
 */
export function withBulkhead(
  client: RestClient,
  { timeoutMs, maxConcurrency = 16, maxQueue = 2_000 }: BulkheadOptions,
): RestClient {
  const places = bulkhead(maxConcurrency, maxQueue);

  return {
    ...client,
    send: (request, caller, withinMs = timeoutMs) =>
      new Promise((resolve, reject) => {
        const { signal } = caller;
        const endsAt = performance.now() + withinMs;
        const leave = () => reject(signal.reason);
        let isGivenUp = false;
        const waiting = setTimeout(() => {
          isGivenUp = true;
          resolve(shed);
        }, withinMs);
        const endWaiting = () => {
          clearTimeout(waiting);
          signal.removeEventListener('abort', leave);
        };
        signal.addEventListener('abort', leave);
        // The signal is not handed to the bulkhead: it would drop the turn of a caller who left, and stop calling the next.
        places
          .execute(() => {
            endWaiting();
            signal.throwIfAborted();
            const leftMs = endsAt - performance.now();
            // Timers may be a little ahead of the clock, and what its caller was told is unsent must not be sent.
            if (isGivenUp || leftMs <= 0) return shed;
            return client.send(request, caller, request.method === 'POST' ? withinMs : leftMs);
          })
          .catch((error: unknown) => {
            endWaiting();
            if (error instanceof BulkheadRejectedError) return shed;
            throw error;
          })
          .then(resolve, reject);
      }),
  };
}

const shed: RestFailure = { kind: 'failure', reason: 'shed', text: '' };
