import type { Continuation } from '../async/sync-promise.ts';
import type { Reservation } from './allowance/reservation.ts';
import type { CircuitBreaker, Pass } from './circuit-breaker.ts';
import type { Deadline } from './deadline.ts';
import { type MakeCall, type Outcome, type Payer, type Shed, shed, type UpstreamRequest } from './operation.ts';
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

export interface PathGuards {
  block: RetryAfterBlock;
  circuit: CircuitBreaker;
}

/** An attempt in its slot. It continues when its call has ended. */
export class GuardedAttempt implements Continuation<Outcome> {
  readonly #options: GuardedAttemptOptions;
  readonly #request: UpstreamRequest;
  readonly #deadline: Deadline;
  readonly #payer: Payer;
  readonly #continuation: Continuation<Outcome>;
  readonly #guards: PathGuards;
  readonly #blockPass: Pass;
  /** Null: the circuit is open. */
  readonly #circuitPass: Pass | null;
  /** Set when the call is made. */
  #reservation: Reservation | null = null;

  constructor(
    options: GuardedAttemptOptions,
    request: UpstreamRequest,
    deadline: Deadline,
    payer: Payer,
    continuation: Continuation<Outcome>,
    guards: PathGuards,
    blockPass: Pass,
  ) {
    this.#options = options;
    this.#request = request;
    this.#deadline = deadline;
    this.#payer = payer;
    this.#continuation = continuation;
    this.#guards = guards;
    this.#blockPass = blockPass;
    this.#circuitPass = guards.circuit.enter();
  }

  start(retries: number): void {
    if (this.#circuitPass === null) {
      this.onResolved(shed);
      return;
    }
    const payer = this.#payer;
    const { reserve } = this.#options;
    try {
      const mayBeSent = this.#request.maySend?.();
      const reserving = mayBeSent ? mayBeSent.then((maySend) => (maySend ? reserve(payer) : shed)) : reserve(payer);
      if (reserving instanceof Promise) {
        reserving.then(
          (reserved) => this.#call(reserved, retries),
          (reason) => this.onRejected(reason),
        );
      } else this.#call(reserving, retries);
    } catch (error) {
      this.#fail(error);
    }
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
    // From here on the call is counted even if the caller aborts: it may already be sent.
    this.#payer.usage.upstreamCalls += 1;
    this.#reservation = reserved;
    this.#payer.task?.hold();
    try {
      this.#options.makeCall(this.#request, this.#deadline, this, this.#payer.trace, retries);
    } catch (error) {
      this.#fail(error);
    }
  }

  onResolved(outcome: Outcome): void {
    try {
      this.#end(outcome, this.#options.leave);
    } catch (error) {
      this.#continuation.onRejected(error);
      return;
    }
    this.#continuation.onResolved(outcome);
  }

  /** The caller has aborted. */
  onRejected(reason: unknown): void {
    // Clients often leave at the same time: a call that started at once could be for one who is about to leave.
    this.#end(shed, () => setImmediate(this.#options.leave));
    this.#continuation.onRejected(reason);
  }

  #fail(error: unknown): void {
    this.#end(shed, this.#options.leave);
    this.#continuation.onRejected(error);
  }

  #end(outcome: Outcome, leave: () => void): void {
    const { block, circuit } = this.#guards;
    try {
      if (this.#circuitPass !== null) circuit.leave(this.#circuitPass, outcome);
      block.leave(this.#blockPass, outcome);
      if (this.#reservation !== null) this.#settle(this.#reservation, outcome);
    } finally {
      if (this.#reservation !== null) this.#payer.task?.release();
      leave();
    }
  }

  /** Counts the call as paid unless it was surely not sent. After an abort the outcome is `shed`: it may be charged. */
  #settle(reservation: Reservation, outcome: Outcome): void {
    if (outcome.kind === 'failed' && outcome.reason === 'unreachable') reservation.release();
    else this.#options.onPaid();
    if (outcome.kind === 'answered') reservation.recordAnswer(outcome);
  }
}
