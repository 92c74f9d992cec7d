import type { Signal } from '../base/async/signal.ts';
import type { ErrorCode, ServiceName } from '../base/errors.ts';
import type { Trace } from './trace.ts';

/**
 * The caller and the usage of one request. Passed to every layer. Copies: a batch of look-ups has its own `trace`; an essay order,
 * and a look-up that replaces a stale answer, its own `signal`.
 */
export interface RequestContext {
  /** Different for each request: the calls of one request share their turns among those of its caller. */
  requestKey: symbol;
  /** 'anonymous' without authentication. Data stored for one caller is not returned to another. */
  callerId: string;
  origin: CallOrigin;
  /** Aborts when the client disconnects. */
  signal: Signal;
  usage: Usage;
  /** The parent of the spans of upstream calls; null: the request is not sampled. */
  trace: Trace | null;
  /** How long the request has waited for upstreams. */
  activity: UpstreamActivity;
  /** Counts a call in the caller's own budget before it is sent; null: the caller has none. */
  reserveCall: ReserveCall | null;
  /** Calls for further pages of bank lists; all lists of the request share a limited number. */
  furtherPages: { calls: number };
  freshness: Freshness;
  /** What the fields that return unions have returned. */
  outcomes: ResultOutcome[];
}

/** What the audit trail says of the request or order that a call is made for. */
export interface CallOrigin {
  /** The name of the caller, without personal data. */
  caller: string;
  requestId: string | null;
  orderId: string | null;
  /** The name of the operation, which the client chooses. */
  operation: string | null;
  /** The id of a persisted or trusted document. */
  documentId: string | null;
}

/** The result of an order or a generation. Failures among them are members of a union, and not in `errors`. */
interface ResultOutcome {
  /** Member of the union. */
  type: string;
  /** The code of a failure; null for a success. */
  code: ErrorCode | null;
}

/** Counts of one request, returned as `extensions.cost`. */
export interface Usage {
  /** Look-ups in the cache; each IBAN and BIC counts once per request. */
  lookUps: number;
  /** Look-ups answered from the cache. */
  cacheHits: number;
  /** Cache hits with a stale entry, served while it was revalidated or because the service failed. */
  staleHits: number;
  /** Calls to upstreams, retries included. */
  upstreamCalls: number;
  /** Of these, those to the essay service. */
  essayCalls: number;
}

export interface Freshness {
  /** When the first of the answers used so far stops being fresh, in milliseconds since 1970. */
  freshUntil: number;
}

/** Null: no budget for this service. */
export type ReserveCall = (service: ServiceName) => BudgetedCall | Promise<BudgetedCall> | null;

/** A call that was counted and may be sent, or that may not be sent. */
export type BudgetedCall = { kind: 'reserved'; release(): void } | BudgetExhausted | Uncounted;

/** Not sent: the caller's own budget of paid calls is exhausted. */
export interface BudgetExhausted {
  kind: 'budget-exhausted';
  /** Null: it is the limit of one request, which does not renew. */
  renewsAt: Date | null;
}

/** Not sent: how many calls were made is not known, because the store fails. */
export interface Uncounted {
  kind: 'uncounted';
}

export function createRequestContext(
  signal: Signal,
  callerId = 'anonymous',
  reserveCall: ReserveCall | null = null,
  trace: Trace | null = null,
  {
    caller = 'anonymous',
    requestId = null,
    orderId = null,
    operation = null,
    documentId = null,
  }: Partial<CallOrigin> = {},
): RequestContext {
  return {
    requestKey: Symbol('request'),
    callerId,
    origin: { caller, requestId, orderId, operation, documentId },
    signal,
    usage: { lookUps: 0, cacheHits: 0, staleHits: 0, upstreamCalls: 0, essayCalls: 0 },
    trace,
    activity: new UpstreamActivity(),
    reserveCall,
    furtherPages: { calls: 0 },
    freshness: { freshUntil: Number.POSITIVE_INFINITY },
    outcomes: [],
  };
}

/** The most paid calls that an operation would make now, by service. */
export interface Quote {
  bankData: number;
  essays: number;
}

/** With what they cost; without `price` if no service has one. */
export interface PricedQuote extends Quote {
  price?: readonly string[];
}

/** What a request says of its paid calls: they are counted in a quote, and none is made; or limited, retries included. */
export type CallRule = { kind: 'quote'; quote: Quote } | { kind: 'limit'; maxCalls: number };

/** The paid calls that a request may still make, and those of the orders that it starts. */
export interface CallLimit {
  left: number;
}

/** Counts the calls of one request, retries included, beside the caller's budget. */
export function limitCalls(limit: CallLimit, reserveCall: ReserveCall | null = null): ReserveCall {
  return (service) => {
    if (limit.left <= 0) return noCallLeft;
    limit.left -= 1;
    const budgeted = reserveCall?.(service) ?? null;
    return budgeted instanceof Promise ? budgeted.then(count) : count(budgeted);
  };

  function count(budgeted: BudgetedCall | null): BudgetedCall {
    if (budgeted !== null && budgeted.kind !== 'reserved') {
      limit.left += 1;
      return budgeted;
    }
    return {
      kind: 'reserved',
      release() {
        limit.left += 1;
        budgeted?.release();
      },
    };
  }
}

export const noCallLeft: BudgetExhausted = { kind: 'budget-exhausted', renewsAt: null };

/** How long a request has waited for upstreams: the time in which at least one of its look-ups or orders was in progress. */
export class UpstreamActivity {
  #inProgress = 0;
  #waitingSince = 0;
  #waitedMs = 0;

  begin(): void {
    if (this.#inProgress === 0) this.#waitingSince = performance.now();
    this.#inProgress += 1;
  }

  end(): void {
    this.#inProgress -= 1;
    if (this.#inProgress === 0) this.#waitedMs += performance.now() - this.#waitingSince;
  }

  /** @param now by `performance.now()` */
  waitedMs(now: number): number {
    return this.#waitedMs + (this.#inProgress === 0 ? 0 : now - this.#waitingSince);
  }
}
