import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import type { RestClient } from './rest-client.ts';

interface BulkheadOptions {
  /** Most calls in flight. */
  maxConcurrency?: number;
  /** Most calls that wait in line; further ones are shed at once. */
  maxQueue?: number;
}

/** Keeps a slow upstream from holding the whole gateway: so many calls in flight, so many in line, no more. */
export function limited(
  client: RestClient,
  { maxConcurrency = 16, maxQueue = 2_000 }: BulkheadOptions = {},
): RestClient {
  const places = bulkhead(maxConcurrency, maxQueue);
  return {
    ...client,
    // The signal is not handed to the bulkhead: it would drop the turn of a caller who left, and stop calling the next.
    // The transport looks at it first of all.
    send: (request, caller, withinMs) =>
      places
        .execute(() => client.send(request, caller, withinMs))
        .catch((error: unknown) => {
          if (error instanceof BulkheadRejectedError) return { kind: 'failure', reason: 'shed', text: '' };
          throw error;
        }),
  };
}
