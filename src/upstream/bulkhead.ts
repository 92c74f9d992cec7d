import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import type { Deadline } from './deadline.ts';
import { type Outcome, type Send, shed, shedOrThrow, type UpstreamRequest } from './operation.ts';

interface BulkheadOptions {
  /** Maximum number of calls in flight. */
  maxConcurrency: number;
  /** Maximum number of attempts waiting for a slot; further ones are shed at once. */
  maxQueue: number;
}

/**
 * Limits the calls in flight and the queue, so that a slow upstream does not occupy the whole gateway. An attempt waits
 * at most until its deadline. After the queue, a read has only the remaining time; for a write the deadline restarts.
 */
export function withBulkhead(send: Send, { maxConcurrency, maxQueue }: BulkheadOptions): Send {
  const slots = bulkhead(maxConcurrency, maxQueue);

  return (request, deadline) =>
    slots.executionSlots > 0 ? slots.execute(() => start(request, deadline)) : waitForSlot(request, deadline);

  function start(request: UpstreamRequest, deadline: Deadline): Promise<Outcome> {
    if (request.method === 'POST') deadline.restart();
    return send(request, deadline);
  }

  function waitForSlot(request: UpstreamRequest, deadline: Deadline): Promise<Outcome> {
    const { signal } = deadline;
    return new Promise((resolve, reject) => {
      const onAbort = () => resolve(shedOrThrow(deadline));
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      const stopListening = () => signal.removeEventListener('abort', onAbort);
      // The signal is not passed to cockatiel: it would remove the queued attempt without starting the next one.
      slots
        .execute(async () => {
          stopListening();
          return signal.aborted ? shed : start(request, deadline);
        })
        .then(resolve, (error: unknown) => {
          stopListening();
          if (error instanceof BulkheadRejectedError) resolve(shed);
          else reject(error);
        });
    });
  }
}
