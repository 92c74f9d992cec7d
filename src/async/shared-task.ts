import { AbortableSignal, type Signal } from './signal.ts';

/**
 * A task whose result several callers wait for, and that may outlive them. When all callers have aborted, the task's
 * signal aborts as well, unless the task has called `commit`: from then on it always runs to its end.
 */
export class SharedTask<Result> {
  readonly #signal = new AbortableSignal();
  readonly #result: Promise<Result>;
  #waiters: Waiter<Result>[] = [];
  #isCommitted = false;
  #isSettled = false;
  /** Resolves when the task has settled. */
  readonly settled: Promise<void>;

  constructor(run: (signal: Signal, commit: () => void) => Promise<Result>) {
    this.#result = run(this.#signal, () => {
      this.#isCommitted = true;
    });
    this.settled = this.#result.then(
      (result) => {
        this.#isSettled = true;
        for (const waiter of this.#waiters) waiter.resolve(result);
      },
      (error) => {
        this.#isSettled = true;
        for (const waiter of this.#waiters) waiter.reject(error);
      },
    );
  }

  /** Waits for the result; rejects with the signal's reason as soon as this caller aborts. */
  join(signal: Signal): Promise<Result>;
  /** @param use applied to the result @param onRejected called if there is none. Both must not throw. */
  join<Used>(signal: Signal, use: (result: Result) => Used, onRejected?: () => void): Promise<Used>;
  join(signal: Signal, use: (result: Result) => unknown = identity, onRejected = ignore): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiter = new Waiter<Result>(
        this,
        signal,
        (result) => resolve(use(result)),
        (reason) => {
          onRejected();
          reject(reason);
        },
      );
      if (signal.aborted) waiter.reject(signal.reason);
      else if (this.#isSettled)
        void this.#result.then(
          (result) => waiter.resolve(result),
          (error) => waiter.reject(error),
        );
      else this.#waiters.push(waiter);
    });
  }

  /** Called when a waiter's signal has aborted. */
  leave(waiter: Waiter<Result>, reason: unknown): void {
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    if (this.#waiters.length === 0 && !this.#isCommitted) this.#signal.abort(reason);
  }

  hasWaiters(): boolean {
    return this.#waiters.length > 0;
  }

  /** Whether all callers aborted before the task called `commit`. */
  isAborted(): boolean {
    return this.#signal.aborted;
  }

  /** Whether it is committed or aborted: callers no longer influence the task. */
  isDetached(): boolean {
    return this.#isCommitted || this.#signal.aborted;
  }
}

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

  resolve(result: Result): void {
    this.#signal.removeEventListener('abort', this);
    this.#onResolved(result);
  }

  reject(reason: unknown): void {
    this.#signal.removeEventListener('abort', this);
    this.#onRejected(reason);
  }

  /** The signal has aborted. */
  handleEvent(): void {
    this.#task.leave(this, this.#signal.reason);
    this.#onRejected(this.#signal.reason);
  }
}

function identity<Value>(value: Value): Value {
  return value;
}

function ignore(): void {}
