import type { Continuation } from '../async/sync-promise.ts';
import type { Reservation } from './allowance/period-count.ts';
import type { CircuitBreaker, Pass } from './circuit-breaker.ts';
import type { Deadline } from './deadline.ts';
import {
  type CallContinuation,
  type MakeCall,
  type Outcome,
  type Payer,
  type Shed,
  shed,
  type UpstreamRequest,
} from './operation.ts';
import type { Reserve, Reserved } from './reserve.ts';
import type { RetryAfterBlock } from './retry-after.ts';

/** What all attempts have in common. */
export interface GuardedAttemptOptions {
  reserve: Reserve;
  makeCall: MakeCall;
  /** Called for each call that may be charged. */
  onPaid: () => void;
  /** Returns the slot of the attempt. */
  leave: () => void;
}

/** The guards of a path, and how the attempt has passed them. */
export interface PassedGuards {
  block: RetryAfterBlock;
  blockPass: Pass;
  circuit: CircuitBreaker;
  circuitPass: Pass;
}

/** An attempt that has a slot and has passed the guards of its path. It continues when its call has ended. */
export class GuardedAttempt implements CallContinuation {
  readonly #options: GuardedAttemptOptions;
  readonly #request: UpstreamRequest;
  readonly #deadline: Deadline;
  readonly #payer: Payer;
  readonly #continuation: Continuation<Outcome>;
  readonly #guards: PassedGuards;
  /** Set when the call is made. */
  #reservation: Reservation | null = null;
  #isSent = false;
  #hasEnded = false;

  constructor(
    options: GuardedAttemptOptions,
    request: UpstreamRequest,
    deadline: Deadline,
    payer: Payer,
    continuation: Continuation<Outcome>,
    guards: PassedGuards,
  ) {
    this.#options = options;
    this.#request = request;
    this.#deadline = deadline;
    this.#payer = payer;
    this.#continuation = continuation;
    this.#guards = guards;
  }

  start(retries: number): void {
    let reserving: Reserved | Shed | Promise<Reserved | Shed>;
    try {
      const { reserve } = this.#options;
      const mayBeSent = this.#request.maySend?.();
      reserving = mayBeSent
        ? mayBeSent.then((maySend) => (maySend ? reserve(this.#payer) : shed))
        : reserve(this.#payer);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (reserving instanceof Promise)
      reserving.then(
        (reserved) => this.#call(reserved, retries),
        (error) => this.#fail(error),
      );
    else this.#call(reserving, retries);
  }

  #call(reserved: Reserved | Shed, retries: number): void {
    if (reserved.kind !== 'reserved') {
      this.onResolved(reserved);
      return;
    }
    if (this.#deadline.aborted) {
      reserved.release();
      if (this.#deadline.hasExpired()) this.onResolved(shed);
      else this.onRejected(this.#deadline.reason);
      return;
    }
    try {
      this.#request.onSent?.();
    } catch (error) {
      // For example, the lock of the order has expired.
      reserved.release();
      this.#fail(error);
      return;
    }
    this.#payer.usage.upstreamCalls += 1;
    this.#reservation = reserved;
    try {
      this.#options.makeCall(this.#request, this.#deadline, this, this.#payer.trace, retries);
    } catch (error) {
      this.#fail(error);
    }
  }

  onSending(): void {
    if (this.#isSent) return;
    this.#isSent = true;
    this.#payer.task?.hold();
  }

  onResolved(outcome: Outcome): void {
    if (this.#end(outcome, this.#options.leave)) this.#continuation.onResolved(outcome);
  }

  /** The caller has aborted. */
  onRejected(reason: unknown): void {
    // Clients often leave at the same time: a call that started at once could be for one who is about to leave.
    if (this.#end(shed, () => setImmediate(this.#options.leave))) this.#continuation.onRejected(reason);
  }

  #fail(error: unknown): void {
    if (this.#end(shed, this.#options.leave)) this.#continuation.onRejected(error);
  }

  /** @returns false if it has ended before, or if it continues with the error of a guard */
  #end(outcome: Outcome, leave: () => void): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    try {
      const { block, blockPass, circuit, circuitPass } = this.#guards;
      circuit.leave(circuitPass, outcome);
      block.leave(blockPass, outcome);
      if (this.#reservation !== null) this.#settle(this.#reservation, outcome);
      return true;
    } catch (error) {
      this.#continuation.onRejected(error);
      return false;
    } finally {
      if (this.#isSent) this.#payer.task?.release();
      leave();
    }
  }

  /** Counts the call as paid unless it was surely not sent. If the caller has aborted one that was sent, it may be charged. */
  #settle(reservation: Reservation, outcome: Outcome): void {
    const isUnreachable = outcome.kind === 'failed' && outcome.reason === 'unreachable';
    if (this.#isSent && !isUnreachable) this.#options.onPaid();
    else reservation.release();
    if (outcome.kind === 'answered') reservation.recordAnswer(outcome);
  }
}
