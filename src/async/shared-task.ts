import { AbortableSignal, type Signal } from './signal.ts';

/**
 * A task whose result several callers wait for, and that may outlive them. It is also the signal of the work that is done
 * for it: when all callers have aborted, it aborts as well, unless it is committed: from then on it runs to its end.
 */
export class SharedTask<Result> extends AbortableSignal {
  #waiters: Waiter<Result>[] = none;
  #isCommitted = false;
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
    if (this.#waiters.length === 0 && !this.#isCommitted) this.abort(reason);
  }

  /** From now on it runs to its end, even if all callers abort. */
  commit(): void {
    this.#isCommitted = true;
  }

  hasWaiters(): boolean {
    return this.#waiters.length > 0;
  }

  /** Whether it is committed or aborted: callers no longer influence the task. */
  isDetached(): boolean {
    return this.#isCommitted || this.aborted;
  }

  #settle(outcome: Outcome<Result>): void {
    const waiters = this.#waiters;
    this.#outcome = outcome;
    this.#waiters = none;
    for (const waiter of waiters) waiter.settle(outcome);
  }
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
