import { setMaxListeners } from 'node:events';

/** Who sent a request, and what answering it has used so far. Handed down through every layer. */
export interface RequestContext {
  /** The caller, as far as it is known: what is stored for one caller is not shown to another. */
  callerId: string;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  usage: Usage;
  /** Until when everything looked up so far is fresh, in milliseconds since 1970. */
  freshUntil: number;
}

/** Counts of one request, for `extensions.cost`. */
interface Usage {
  /** Distinct look-ups of IBANs, BICs and banks. */
  lookUps: number;
  /** Look-ups answered from the cache. */
  cacheHits: number;
  /** Cache hits whose entry was stale: it is revalidated, or the service failed. */
  staleHits: number;
  /** Calls to upstreams, retries included. */
  upstreamCalls: number;
}

export function createRequestContext(signal: AbortSignal): RequestContext {
  // Every look-up of a request listens to this signal; Node.js reports more than ten listeners as a leak.
  setMaxListeners(0, signal);
  const usage = { lookUps: 0, cacheHits: 0, staleHits: 0, upstreamCalls: 0 };
  return { callerId: 'anonymous', signal, usage, freshUntil: Number.POSITIVE_INFINITY };
}
