import { AbortableSignal, type Signal } from '../../../base/async/signal.ts';

/** Work whose result several callers wait for: when all of them have aborted, its signal aborts as well, unless the work is kept alive. */
export class SharedTask<Result> {
  readonly signal = new AbortableSignal();
  readonly #result: Promise<Result>;
  #callers = 0;
  #isKeptAlive = false;

  /** @param run starts the work at once */
  constructor(run: () => Promise<Result>) {
    this.#result = run();
    // Callers learn of a failure from `wait`; there may be none.
    this.#result.catch(ignore);
  }

  /** Waits for the result; rejects with the signal's reason as soon as this caller aborts. */
  wait(signal: Signal): Promise<Result> {
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#callers += 1;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#callers -= 1;
        if (this.#callers === 0 && !this.#isKeptAlive) this.signal.abort(signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave);
      this.#result.finally(() => signal.removeEventListener('abort', leave)).then(resolve, reject);
    });
  }

  /** Resolves when the work has ended, whether or not it succeeded. */
  settled(): Promise<void> {
    return this.#result.then(ignore, ignore);
  }

  /** From now on, for example while a call that may be charged is in flight, it continues without callers. */
  keepAlive(): void {
    this.#isKeptAlive = true;
  }

  /** Whether it is kept alive or aborted: then callers do not influence it. */
  outlivesCallers(): boolean {
    return this.#isKeptAlive || this.signal.aborted;
  }
}

function ignore(): void {}
