import { AbortableSignal, type Signal } from '../async/signal.ts';
import { createLinkedList } from './linked-list.ts';

/** The time limit of one operation, combined with the caller's abort signal. */
export interface Deadline {
  /** Aborts at the deadline, or with the caller's reason as soon as the caller aborts. */
  signal: Signal;
  /** Milliseconds left; 0 or less after the deadline. */
  leftMs(): number;
  /** Whether it was aborted by the timeout and not by the caller. */
  hasExpired(): boolean;
  /**
   * Restarts the full timeout, once. A write does so when it leaves the queue: an aborted write may be charged without
   * a result.
   */
  restart(): void;
  /** Releases the timer and the listener. Call it when the operation has settled. */
  end(): void;
}

export interface Deadlines {
  /** @param elapsedMs how much of the timeout was used before; below the timeout */
  start(caller: Signal, elapsedMs?: number): Deadline;
}

/** Deadlines of one length. They expire in the order in which they begin, so that one timer serves them all. */
export function createDeadlines(timeoutMs: number): Deadlines {
  const running = createLinkedList<RunningDeadline>();
  let timer: NodeJS.Timeout | null = null;
  const start = (deadline: RunningDeadline): CancelTimer => {
    const node = running.append(deadline);
    timer ??= setTimeout(expireDue, timeoutMs);
    return () => {
      if (!node.remove() || timer === null || running.first() !== null) return;
      clearTimeout(timer);
      timer = null;
    };
  };

  return {
    start(caller, elapsedMs = 0) {
      return new RunningDeadline(caller, timeoutMs, elapsedMs, start);
    },
  };

  /** The timer was started for a deadline that may have ended since: then it is started again for the next one. */
  function expireDue(): void {
    timer = null;
    for (let node = running.first(); node !== null; node = running.first()) {
      const leftMs = node.value.leftMs();
      if (leftMs >= timerToleranceMs) {
        timer ??= setTimeout(expireDue, leftMs);
        return;
      }
      node.remove();
      node.value.expire();
    }
  }
}

type CancelTimer = () => void;

/** A class, so that all deadlines share its functions. */
class RunningDeadline implements Deadline {
  readonly signal = new AbortableSignal();
  readonly #caller: Signal;
  readonly #timeoutMs: number;
  readonly #startTimer: (deadline: RunningDeadline) => CancelTimer;
  readonly #onAbort = () => this.signal.abort(this.#caller.reason);
  #cancelTimer: CancelTimer;
  #endsAt: number;
  #isRestarted = false;

  constructor(
    caller: Signal,
    timeoutMs: number,
    elapsedMs: number,
    startTimer: (deadline: RunningDeadline) => CancelTimer,
  ) {
    this.#caller = caller;
    this.#timeoutMs = timeoutMs;
    this.#startTimer = startTimer;
    this.#endsAt = performance.now() + timeoutMs - elapsedMs;
    this.#cancelTimer = elapsedMs > 0 ? startShorterTimer(this) : startTimer(this);
    if (caller.aborted) this.#onAbort();
    else caller.addEventListener('abort', this.#onAbort);
  }

  leftMs(): number {
    return this.#endsAt - performance.now();
  }

  hasExpired(): boolean {
    return this.signal.reason === expired;
  }

  expire(): void {
    this.signal.abort(expired);
  }

  restart(): void {
    if (this.#isRestarted || this.signal.aborted) return;
    this.#isRestarted = true;
    this.#cancelTimer();
    this.#endsAt = performance.now() + this.#timeoutMs;
    this.#cancelTimer = this.#startTimer(this);
  }

  end(): void {
    this.#cancelTimer();
    this.#caller.removeEventListener('abort', this.#onAbort);
  }
}

/** It does not expire in the common order. */
function startShorterTimer(deadline: RunningDeadline): CancelTimer {
  const timer = setTimeout(() => deadline.expire(), deadline.leftMs());
  return () => clearTimeout(timer);
}

/** Timers of Node.js may fire up to a millisecond early. */
const timerToleranceMs = 1;

/** The unique reason that distinguishes the timeout from an abort by the caller. */
const expired = new DOMException('The deadline of the upstream operation has passed.', 'TimeoutError');
