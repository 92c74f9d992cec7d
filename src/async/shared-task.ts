import { AbortableSignal, type Signal } from './signal.ts';
import type { Continuation } from './sync-promise.ts';

/**
 * A task whose result several callers wait for, and that may outlive them. It is also the signal of the work that is done
 * for it: when all callers have aborted, it aborts as well, but not while it is held.
 */
export class SharedTask<Result> extends AbortableSignal implements Holdable {
  /** Most tasks have one who waits; only the second creates an array. */
  #first: Waiter<Result> | null = null;
  #others: Waiter<Result>[] = none;
  #holds = 0;
  /** Set when all callers have aborted while it was held. */
  #abandoned: { reason: unknown } | null = null;
  #outcome: Outcome<Result> | null = null;

  /** Passes the result on to all who wait. */
  resolve(result: Result): void {
    this.#settle({ kind: 'resolved', result });
  }

  /** Passes the error on to all who wait. */
  reject(reason: unknown): void {
    this.#settle({ kind: 'rejected', reason });
  }

  /** Waits for the result; rejects with the signal's reason as soon as this caller aborts. */
  wait(signal: Signal): Promise<Result> {
    return new Promise((onResolved, onRejected) => this.join(signal, { onResolved, onRejected }));
  }

  /** Like `wait`, without a promise. The functions of the continuation must not throw. */
  join(signal: Signal, continuation: Continuation<Result>): void {
    const waiter = new Waiter<Result>(this, signal, continuation);
    if (signal.aborted) waiter.settle({ kind: 'rejected', reason: signal.reason });
    else if (this.#outcome !== null) waiter.settle(this.#outcome);
    else if (this.#first === null) this.#first = waiter;
    else if (this.#others === none) this.#others = [waiter];
    else this.#others.push(waiter);
  }

  /** Called when a waiter's signal has aborted. */
  leave(waiter: Waiter<Result>, reason: unknown): void {
    if (this.#first === waiter) this.#first = this.#others.shift() ?? null;
    else this.#others = this.#others.filter((other) => other !== waiter);
    if (this.#first !== null) return;
    if (this.#holds > 0) this.#abandoned = { reason };
    else this.abort(reason);
  }

  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#abandoned === null || this.#holds > 0 || this.hasWaiters()) return;
    this.abort(this.#abandoned.reason);
  }

  hasWaiters(): boolean {
    return this.#first !== null;
  }

  /** Whether it is held or aborted: then callers do not influence the task. */
  isDetached(): boolean {
    return this.#holds > 0 || this.aborted;
  }

  #settle(outcome: Outcome<Result>): void {
    const first = this.#first;
    const others = this.#others;
    this.#outcome = outcome;
    this.#first = null;
    this.#others = none;
    first?.settle(outcome);
    for (const waiter of others) waiter.settle(outcome);
  }
}

/** Work that continues without callers while it is held, as when a call has been sent and may be charged. */
export interface Holdable {
  hold(): void;
  /** Once for each `hold`. If all callers have left meanwhile, the work is aborted now. */
  release(): void;
}

type Outcome<Result> = { kind: 'resolved'; result: Result } | { kind: 'rejected'; reason: unknown };

/** A class, since thousands may wait: it is also the listener of its signal. */
class Waiter<Result> {
  readonly #task: SharedTask<Result>;
  readonly #signal: Signal;
  readonly #continuation: Continuation<Result>;

  constructor(task: SharedTask<Result>, signal: Signal, continuation: Continuation<Result>) {
    this.#task = task;
    this.#signal = signal;
    this.#continuation = continuation;
    signal.addEventListener('abort', this);
  }

  settle(outcome: Outcome<Result>): void {
    this.#signal.removeEventListener('abort', this);
    if (outcome.kind === 'resolved') this.#continuation.onResolved(outcome.result);
    else this.#continuation.onRejected(outcome.reason);
  }

  /** The signal has aborted. */
  handleEvent(): void {
    this.#task.leave(this, this.#signal.reason);
    this.#continuation.onRejected(this.#signal.reason);
  }
}

/** The further waiters of a task without any. It stays empty. */
const none: never[] = [];
