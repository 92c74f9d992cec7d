import type { RequestContext } from '../request-context.ts';

/** A call with a deadline. */
interface EndingCall {
  /** The time is over. */
  expire(): void;
  /** The caller has left. */
  leave(): void;
}

/** The calls that are made for one request in one go: they have one deadline and one timer. */
export class Batch {
  readonly context: RequestContext;
  readonly #timeoutMs: number;
  readonly #calls = new Set<EndingCall>();
  /** By `performance.now()`. */
  #endsAt: number;
  #timer: NodeJS.Timeout | undefined;
  #hasExpired = false;
  #isRestarted = false;

  constructor(context: RequestContext, timeoutMs: number) {
    this.context = context;
    this.#timeoutMs = timeoutMs;
    this.#endsAt = performance.now() + timeoutMs;
  }

  /** Milliseconds left; 0 or less after the deadline. */
  leftMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Timers may fire up to a millisecond early. */
  hasExpired(): boolean {
    return this.#hasExpired || this.leftMs() <= 0;
  }

  add(call: EndingCall): void {
    if (this.#calls.size === 0) this.context.signal.addEventListener('abort', this.#leave);
    this.#calls.add(call);
    // The connection keeps the process alive, not the timer.
    this.#timer ??= setTimeout(this.#expire, this.leftMs()).unref();
  }

  remove(call: EndingCall): void {
    if (!this.#calls.delete(call) || this.#calls.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.context.signal.removeEventListener('abort', this.#leave);
  }

  /** Restarts the full timeout, once. An order does so when it leaves the queue: an aborted one may be charged without a result. */
  restart(): void {
    if (this.#isRestarted || this.#hasExpired) return;
    this.#isRestarted = true;
    clearTimeout(this.#timer);
    this.#endsAt = performance.now() + this.#timeoutMs;
    this.#timer = setTimeout(this.#expire, this.#timeoutMs).unref();
  }

  readonly #expire = (): void => {
    this.#hasExpired = true;
    for (const call of this.#calls) call.expire();
  };

  readonly #leave = (): void => {
    for (const call of this.#calls) call.leave();
  };
}
