import type { Signal } from './async/signal.ts';

/** The caller and the usage of one request. Passed to every layer. */
export interface RequestContext {
  /** 'anonymous' without authentication. Data stored for one caller is not returned to another. */
  callerId: string;
  /** Aborts when the client disconnects. */
  signal: Signal;
  usage: Usage;
  /** When the first of the answers used so far stops being fresh, in milliseconds since 1970. */
  freshUntil: number;
}

/** Counts of one request, returned as `extensions.cost`. Not amounts of money. */
interface Usage {
  /** Look-ups in the cache; each IBAN and BIC counts once per request. */
  lookUps: number;
  /** Look-ups answered from the cache. */
  cacheHits: number;
  /** Cache hits with a stale entry, served while it was revalidated or because the service failed. */
  staleHits: number;
  /** Calls to upstreams, retries included. */
  upstreamCalls: number;
}

export function createRequestContext(signal: Signal): RequestContext {
  const usage = { lookUps: 0, cacheHits: 0, staleHits: 0, upstreamCalls: 0 };
  return { callerId: 'anonymous', signal, usage, freshUntil: Number.POSITIVE_INFINITY };
}
