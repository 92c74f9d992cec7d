import { setMaxListeners } from 'node:events';

/** Who waits for an answer, and what finding it has cost so far. */
export interface RequestContext {
  /** Who it is, as far as the door can tell: what is kept for one is not shown to another. */
  id: string;
  /** Fires when nobody waits any more. */
  signal: AbortSignal;
  cost: Usage;
  /** Up to which moment all that was looked up so far is fresh, in milliseconds of the epoch. */
  freshUntil: number;
}

/** Counts of one request. */
export interface Usage {
  /** Questions about banks and accounts, each distinct one once. */
  lookUps: number;
  /** How many of them were answered from the cache. */
  cacheHits: number;
  /** How many of those were answered with data past its time, because the service failed or is asked meanwhile. */
  staleHits: number;
  /** Calls to upstreams that this request caused, retries included. */
  upstreamCalls: number;
}

export function createRequestContext(signal: AbortSignal): RequestContext {
  // Every look-up of a request listens to it; Node would take more than ten for a leak.
  setMaxListeners(0, signal);
  const cost = { lookUps: 0, cacheHits: 0, staleHits: 0, upstreamCalls: 0 };
  return { id: 'anonymous', signal, cost, freshUntil: Number.POSITIVE_INFINITY };
}
