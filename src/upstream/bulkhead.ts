import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import type { Deadline } from './deadline.ts';
import { endUnsent, type Outcome, type Send, shed, type UpstreamRequest } from './operation.ts';

interface BulkheadOptions {
  /** Most calls in flight. */
  maxConcurrency?: number;
  /** Most operations waiting for a slot; further ones are shed at once. */
  maxQueue?: number;
}

/**
 * Keeps a slow upstream from occupying the whole gateway: it bounds the calls in flight and those waiting, and none
 * waits beyond its deadline. A read then has what is left of its deadline, a write all of it.
 */
export function withBulkhead(send: Send, { maxConcurrency = 16, maxQueue = 2_000 }: BulkheadOptions = {}): Send {
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
      const leave = () => resolve(endUnsent(deadline));
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      const stopListening = () => signal.removeEventListener('abort', leave);
      // The signal is not given to cockatiel, which would drop this place and not start the next operation.
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
