import { AbortableSignal, type Signal } from './signal.ts';

/**
 * Work whose result several callers wait for, and that may outlive them: when all of them have aborted, its signal aborts as
 * well, unless the work is kept alive.
 */
export class SharedTask<Result> implements KeepAlive {
  readonly signal = new AbortableSignal();
  readonly #result: Promise<Result>;
  #callers = 0;
  #keepers = 0;
  /** The reason of the last caller who has left while the work was kept alive. */
  #left: { reason: unknown } | null = null;

  /** @param run starts the work at once */
  constructor(run: (task: SharedTask<Result>) => Promise<Result>) {
    this.#result = run(this);
    // Callers learn of a failure from `wait`; there may be none.
    this.#result.catch(ignore);
  }

  /** Waits for the result; rejects with the signal's reason as soon as this caller aborts. */
  wait(signal: Signal): Promise<Result> {
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#callers += 1;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#leave(signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave);
      this.#result.then(
        (result) => {
          signal.removeEventListener('abort', leave);
          resolve(result);
        },
        (reason) => {
          signal.removeEventListener('abort', leave);
          reject(reason);
        },
      );
    });
  }

  /** Resolves when the work has ended, whether or not it succeeded. */
  settled(): Promise<void> {
    return this.#result.then(ignore, ignore);
  }

  keepAlive(): void {
    this.#keepers += 1;
  }

  release(): void {
    this.#keepers -= 1;
    if (this.#left !== null && this.#keepers === 0 && this.#callers === 0) this.signal.abort(this.#left.reason);
  }

  /** Whether it is kept alive or aborted: then callers do not influence it. */
  outlivesCallers(): boolean {
    return this.#keepers > 0 || this.signal.aborted;
  }

  #leave(reason: unknown): void {
    this.#callers -= 1;
    if (this.#callers > 0) return;
    if (this.#keepers > 0) this.#left = { reason };
    else this.signal.abort(reason);
  }
}

/** Keeps work alive without callers, for example while a call that may be charged is in flight. */
interface KeepAlive {
  keepAlive(): void;
  /** Call it once for each `keepAlive`. If all callers have left in the meantime, the work is aborted now. */
  release(): void;
}

function ignore(): void {}
