import type { Holdable } from './async/shared-task.ts';
import type { Signal } from './async/signal.ts';
import type { ServiceName } from './errors.ts';
import type { Trace } from './trace.ts';
import { UpstreamActivity } from './upstream-activity.ts';

/** The caller and the usage of one request. Passed to every layer. */
export interface RequestContext {
  /** 'anonymous' without authentication. Data stored for one caller is not returned to another. */
  callerId: string;
  /** Aborts when the client disconnects. */
  signal: Signal;
  /** Held while a call is made, so that its answer is received; null: the call is aborted when the signal aborts. */
  task: Holdable | null;
  usage: Usage;
  /** The parent of the spans of upstream calls; null: the request is not sampled. */
  trace: Trace | null;
  /** Its time with upstreams. A flight has that of its first request. */
  activity: UpstreamActivity;
  /** Counts a call in the caller's own budget before it is sent; null: the caller has none. */
  reserveCall: ReserveCall | null;
  /** When a look-up began to wait for its turn, by `performance.now()`; its deadline includes the wait. */
  queuedSince: number | null;
  /** When the first of the answers used so far stops being fresh, in milliseconds since 1970. */
  freshUntil: number;
}

/** Counts of one request, returned as `extensions.cost`. Not amounts of money. */
export interface Usage {
  /** Look-ups in the cache; each IBAN and BIC counts once per request. */
  lookUps: number;
  /** Look-ups answered from the cache. */
  cacheHits: number;
  /** Cache hits with a stale entry, served while it was revalidated or because the service failed. */
  staleHits: number;
  /** Calls to upstreams, retries included. */
  upstreamCalls: number;
}

/** Null: no budget for this service. */
export type ReserveCall = (service: ServiceName) => BudgetedCall | Promise<BudgetedCall> | null;

/** A call that was counted and may be sent, or that may not be sent. */
export type BudgetedCall = { kind: 'reserved'; release(): void } | { kind: 'budget-exhausted'; renewsAt: Date };

export function createRequestContext(
  signal: Signal,
  callerId = 'anonymous',
  reserveCall: ReserveCall | null = null,
  trace: Trace | null = null,
): RequestContext {
  const usage = { lookUps: 0, cacheHits: 0, staleHits: 0, upstreamCalls: 0 };
  const activity = new UpstreamActivity();
  const freshUntil = Number.POSITIVE_INFINITY;
  return { callerId, signal, task: null, reserveCall, trace, queuedSince: null, usage, activity, freshUntil };
}
