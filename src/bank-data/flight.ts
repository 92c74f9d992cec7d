import { SharedTask } from '../async/shared-task.ts';
import type { Continuation } from '../async/sync-promise.ts';
import type { RequestContext, ReserveCall, Usage } from '../request-context.ts';
import type { Trace } from '../trace.ts';
import type { UpstreamActivity } from '../upstream-activity.ts';
import type { LookUp, LookUpResult } from './look-up.ts';
import type { CacheEntry } from './shared-cache.ts';

/**
 * A look-up that several callers may wait for. It is also the context of its upstream call, with the usage, the budget and the
 * trace of the request that started it, and it continues when that call has ended.
 */
export class Flight extends SharedTask<LookUpResult> implements RequestContext, Continuation<object> {
  readonly key: string;
  readonly callerId: string;
  readonly usage: Usage;
  readonly activity: UpstreamActivity;
  readonly reserveCall: ReserveCall | null;
  readonly trace: Trace | null;
  readonly queuedSince: number | null;
  freshUntil = Number.POSITIVE_INFINITY;
  /** In the table of look-ups; -1 before it begins. */
  slot = -1;
  /** From the shared cache, and no longer fresh. */
  shared: CacheEntry | null = null;
  readonly isNegative: (answer: object) => boolean;
  readonly #landing: Landing;

  constructor(look: LookUp<object>, queuedSince: number | null, trace: Trace | null, landing: Landing) {
    super();
    const { callerId, usage, activity, reserveCall } = look.context;
    this.key = look.key;
    this.callerId = callerId;
    this.usage = usage;
    this.activity = activity;
    this.reserveCall = reserveCall;
    this.trace = trace;
    this.queuedSince = queuedSince;
    this.isNegative = look.isNegative;
    this.#landing = landing;
  }

  get signal(): this {
    return this;
  }

  get task(): this {
    return this;
  }

  onResolved(answer: object): void {
    this.#landing.onAnswered(this, answer);
  }

  onRejected(reason: unknown): void {
    this.#landing.onFailed(this, reason);
  }
}

interface Landing {
  onAnswered(flight: Flight, answer: object): void;
  onFailed(flight: Flight, error: unknown): void;
}
