import { AbortableSignal, type Signal } from './signal.ts';

/**
 * A task whose result several callers wait for, and that may outlive them. It is also the signal of the work that is done
 * for it: when all callers have aborted, it aborts as well, but not while it is held.
 */
export class SharedTask<Result> extends AbortableSignal implements Holdable {
  #waiters: Waiter<Result>[] = none;
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
    return new Promise((resolve, reject) => this.join(signal, resolve, reject));
  }

  /** Like `wait`, without a promise: one of the functions is called. They must not throw. */
  join(signal: Signal, onResolved: (result: Result) => void, onRejected: (reason: unknown) => void): void {
    const waiter = new Waiter<Result>(this, signal, onResolved, onRejected);
    if (signal.aborted) waiter.settle({ kind: 'rejected', reason: signal.reason });
    else if (this.#outcome !== null) waiter.settle(this.#outcome);
    // Adding to an empty array would reserve memory for 16 more; most tasks have one who waits.
    else if (this.#waiters.length === 0) this.#waiters = [waiter];
    else this.#waiters.push(waiter);
  }

  /** Called when a waiter's signal has aborted. */
  leave(waiter: Waiter<Result>, reason: unknown): void {
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    if (this.#waiters.length > 0) return;
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
    return this.#waiters.length > 0;
  }

  /** Whether it is held or aborted: then callers do not influence the task. */
  isDetached(): boolean {
    return this.#holds > 0 || this.aborted;
  }

  #settle(outcome: Outcome<Result>): void {
    const waiters = this.#waiters;
    this.#outcome = outcome;
    this.#waiters = none;
    for (const waiter of waiters) waiter.settle(outcome);
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
  readonly #onResolved: (result: Result) => void;
  readonly #onRejected: (reason: unknown) => void;

  constructor(
    task: SharedTask<Result>,
    signal: Signal,
    onResolved: (result: Result) => void,
    onRejected: (reason: unknown) => void,
  ) {
    this.#task = task;
    this.#signal = signal;
    this.#onResolved = onResolved;
    this.#onRejected = onRejected;
    signal.addEventListener('abort', this);
  }

  settle(outcome: Outcome<Result>): void {
    this.#signal.removeEventListener('abort', this);
    if (outcome.kind === 'resolved') this.#onResolved(outcome.result);
    else this.#onRejected(outcome.reason);
  }

  /** The signal has aborted. */
  handleEvent(): void {
    this.#task.leave(this, this.#signal.reason);
    this.#onRejected(this.#signal.reason);
  }
}

/** The waiters of a task without any. Never changed. */
const none: never[] = [];
