import { AbortableSignal, type Signal } from '../async/signal.ts';
import { createLinkedList, ListNode } from './linked-list.ts';

/**
 * The time limit of one operation, combined with the caller's abort signal: it aborts when the time is over, or with the
 * caller's reason as soon as the caller aborts.
 */
export interface Deadline extends Signal {
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

/** One timer serves all deadlines: it is started for the one that ends first. */
export function createDeadlines(timeoutMs: number): Deadlines {
  const running = createLinkedList<RunningDeadline>();
  let timer: NodeJS.Timeout | undefined;
  let timerEndsAt = Number.POSITIVE_INFINITY;
  const startTimer: StartTimer = (deadline) => {
    const node = new ListNode(deadline).insertInto(running, isInOrder);
    if (deadline.endsAt < timerEndsAt) runTimer(deadline);
    return node;
  };

  return {
    start: (caller, elapsedMs = 0) => new RunningDeadline(caller, timeoutMs, elapsedMs, startTimer),
  };

  /** A connection keeps the process alive. The timer continues without deadlines until it fires. */
  function runTimer(deadline: RunningDeadline): void {
    clearTimeout(timer);
    timerEndsAt = deadline.endsAt;
    timer = setTimeout(expireDue, deadline.leftMs()).unref();
  }

  /** The timer was started for a deadline that may have ended since: then it is started again for the next one. */
  function expireDue(): void {
    // It is not started for a deadline that begins while another expires: it may not be the next one.
    timerEndsAt = Number.NEGATIVE_INFINITY;
    try {
      for (let node = running.first; node !== null && node.value.leftMs() < timerToleranceMs; node = running.first) {
        node.remove();
        node.value.expire();
      }
    } finally {
      timerEndsAt = Number.POSITIVE_INFINITY;
      if (running.first !== null) runTimer(running.first.value);
    }
  }
}

function isInOrder(other: RunningDeadline, deadline: RunningDeadline): boolean {
  return other.endsAt <= deadline.endsAt;
}

type StartTimer = (deadline: RunningDeadline) => Timer;

interface Timer {
  remove(): unknown;
}

/** A class, so that all deadlines share its functions; it is also the listener of the caller's signal. */
class RunningDeadline extends AbortableSignal implements Deadline {
  readonly #caller: Signal;
  readonly #timeoutMs: number;
  readonly #startTimer: StartTimer;
  #timer: Timer;
  /** By `performance.now()`. */
  endsAt: number;
  #isRestarted = false;

  constructor(caller: Signal, timeoutMs: number, elapsedMs: number, startTimer: StartTimer) {
    super();
    this.#caller = caller;
    this.#timeoutMs = timeoutMs;
    this.#startTimer = startTimer;
    this.endsAt = performance.now() + timeoutMs - elapsedMs;
    this.#timer = startTimer(this);
    if (caller.aborted) this.handleEvent();
    else caller.addEventListener('abort', this);
  }

  /** The caller has aborted. */
  handleEvent(): void {
    this.abort(this.#caller.reason);
  }

  leftMs(): number {
    return this.endsAt - performance.now();
  }

  hasExpired(): boolean {
    return this.reason === expired;
  }

  expire(): void {
    this.abort(expired);
  }

  restart(): void {
    if (this.#isRestarted || this.aborted) return;
    this.#isRestarted = true;
    this.#timer.remove();
    this.endsAt = performance.now() + this.#timeoutMs;
    this.#timer = this.#startTimer(this);
  }

  end(): void {
    this.#timer.remove();
    this.#caller.removeEventListener('abort', this);
  }
}

/** Timers of Node.js may fire up to a millisecond early. */
const timerToleranceMs = 1;

/** The unique reason that distinguishes the timeout from an abort by the caller. */
const expired = new DOMException('The deadline of the upstream operation has passed.', 'TimeoutError');
