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
  /** @param use applied to the result; must not throw */
  join<Used>(signal: Signal, use: (result: Result) => Used): Promise<Used>;
  join(signal: Signal, use: (result: Result) => unknown = (result) => result): Promise<unknown> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#isSettled) return this.#result.then(use);
    return new Promise((resolve, reject) => {
      this.#waiters.push(new Waiter(this, signal, (result) => resolve(use(result)), reject));
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
  readonly #resolve: (result: Result) => void;
  readonly #reject: (reason: unknown) => void;

  constructor(
    task: SharedTask<Result>,
    signal: Signal,
    resolve: (result: Result) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#task = task;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener('abort', this);
  }

  resolve(result: Result): void {
    this.#signal.removeEventListener('abort', this);
    this.#resolve(result);
  }

  reject(reason: unknown): void {
    this.#signal.removeEventListener('abort', this);
    this.#reject(reason);
  }

  /** The signal has aborted. */
  handleEvent(): void {
    this.#task.leave(this, this.#signal.reason);
    this.#reject(this.#signal.reason);
  }
}
