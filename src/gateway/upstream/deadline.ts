import { AbortableSignal, type Signal } from '../../base/async/signal.ts';

/**
 * The time limit of one operation, combined with the caller's abort signal: it aborts when the time is over, or with the
 * caller's reason as soon as the caller aborts.
 */
export class Deadline extends AbortableSignal {
  readonly #caller: Signal;
  readonly #timeoutMs: number;
  readonly #onCallerAborted = () => this.abort(this.#caller.reason);
  readonly #onExpired = () => this.abort(expired);
  /** By `performance.now()`. */
  #endsAt: number;
  #timer: NodeJS.Timeout;
  #isRestarted = false;

  constructor(caller: Signal, timeoutMs: number) {
    super();
    this.#caller = caller;
    this.#timeoutMs = timeoutMs;
    this.#endsAt = performance.now() + timeoutMs;
    // The connection keeps the process alive, not the timer.
    this.#timer = setTimeout(this.#onExpired, timeoutMs).unref();
    if (caller.aborted) this.abort(caller.reason);
    else caller.addEventListener('abort', this.#onCallerAborted);
  }

  /** Milliseconds left; 0 or less after the deadline. */
  leftMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Whether it was aborted by the timeout and not by the caller. */
  hasExpired(): boolean {
    return this.reason === expired;
  }

  /**
   * Restarts the full timeout, once. A write does so when it leaves the queue: an aborted write may be charged without a
   * result.
   */
  restart(): void {
    if (this.#isRestarted || this.aborted) return;
    this.#isRestarted = true;
    clearTimeout(this.#timer);
    this.#endsAt = performance.now() + this.#timeoutMs;
    this.#timer = setTimeout(this.#onExpired, this.#timeoutMs).unref();
  }

  /** Releases the timer and the listener. Call it when the operation has settled. */
  readonly end = (): void => {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#onCallerAborted);
  };
}

/** The unique reason that distinguishes the timeout from an abort by the caller. */
const expired = new DOMException('The deadline of the upstream operation has passed.', 'TimeoutError');
