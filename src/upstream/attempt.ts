import type { Reservation } from './allowance/reservation.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Deadline } from './deadline.ts';
import { type MakeCall, type Outcome, type Payer, type Send, type Shed, shed } from './operation.ts';
import type { Reserve, Reserved } from './reserve.ts';
import type { RetryAfterBlock } from './retry-after.ts';

interface AttemptOptions {
  bulkhead: Bulkhead;
  createCircuitBreaker: (path: string) => CircuitBreaker;
  createRetryAfterBlock: () => RetryAfterBlock;
  reserve: Reserve;
  makeCall: MakeCall;
  /** Called for each call that may be charged. */
  onPaid: () => void;
}

interface PathGuards {
  block: RetryAfterBlock;
  circuit: CircuitBreaker;
}

/**
 * Sends one attempt past all guards. A guard that has nothing to object costs a comparison, and no function is async: each
 * would keep all its variables for every call in flight. The queue is the outermost guard: what changes while an attempt
 * waits is checked afterwards. After the queue, a read has only the remaining time; for a write the deadline restarts.
 */
export function createAttempt({
  bulkhead,
  createCircuitBreaker,
  createRetryAfterBlock,
  reserve,
  makeCall,
  onPaid,
}: AttemptOptions): Send {
  const guards = new Map<string, PathGuards>();

  /** Leaves the slot when the attempt has ended. */
  const sendInSlot: Send = (request, deadline, payer, retries) => {
    if (deadline.aborted) {
      bulkhead.leave();
      return refuseAborted(deadline);
    }
    if (request.method === 'POST') deadline.restart();
    const { block, circuit } = guardsOf(request.path);
    const blockPass = block.enter();
    if (typeof blockPass === 'object') {
      bulkhead.leave();
      return Promise.resolve(blockPass);
    }
    const circuitPass = circuit.enter();
    /** Set when the call is made. */
    let reservation: Reservation | null = null;
    const end = (outcome: Outcome, leave = bulkhead.leave): Outcome => {
      try {
        if (circuitPass !== null) circuit.leave(circuitPass, outcome);
        block.leave(blockPass, outcome);
        if (reservation !== null) settle(reservation, outcome);
      } finally {
        if (reservation !== null) payer.task?.release();
        leave();
      }
      return outcome;
    };
    const fail = (reason: unknown): never => {
      end(shed, leaveLater);
      throw reason;
    };
    const call = (reserved: Reserved | Shed): PromiseLike<Outcome> => {
      if (reserved.kind !== 'reserved') return Promise.resolve(reserved);
      if (deadline.aborted) {
        reserved.release();
        return refuseAborted(deadline);
      }
      // From here on the call is counted even if the caller aborts: it may already be sent.
      request.onSent?.();
      payer.usage.upstreamCalls += 1;
      reservation = reserved;
      payer.task?.hold();
      return makeCall(request, deadline, payer.trace, retries);
    };
    if (circuitPass === null) return Promise.resolve(end(shed));
    try {
      const reserving = request.maySend?.().then((maySend) => (maySend ? reserve(payer) : shed)) ?? reserve(payer);
      return (reserving instanceof Promise ? reserving.then(call) : call(reserving)).then(end, fail);
    } catch (error) {
      // For example, `onSent` throws if the lock of the order has expired.
      end(shed);
      return Promise.reject(error);
    }
  };

  /** Clients often leave at the same time: a call that started at once could be for one who is about to leave. */
  function leaveLater(): void {
    setImmediate(bulkhead.leave);
  }

  return (request, deadline, payer, retries) => {
    if (bulkhead.enter()) return sendInSlot(request, deadline, payer, retries);
    return waitForSlot(payer, deadline).then((hasSlot) => {
      if (hasSlot) return sendInSlot(request, deadline, payer, retries);
      return deadline.aborted ? refuseAborted(deadline) : shed;
    });
  };

  /** A promise: an attempt that leaves its slot at once must not start the next one within its own call. */
  function waitForSlot({ usage }: Payer, deadline: Deadline): Promise<boolean> {
    return new Promise((resolve) => {
      bulkhead.wait(usage, deadline, (hasSlot) => {
        resolve(hasSlot);
        return hasSlot;
      });
    });
  }

  /** Counts the call as paid unless it was surely not sent. After an abort the outcome is `shed`: it may be charged. */
  function settle(reservation: Reservation, outcome: Outcome): void {
    if (outcome.kind === 'failed' && outcome.reason === 'unreachable') reservation.release();
    else onPaid();
    if (outcome.kind === 'answered') reservation.recordAnswer(outcome);
  }

  function guardsOf(path: string): PathGuards {
    const known = guards.get(path);
    if (known) return known;
    const created = { block: createRetryAfterBlock(), circuit: createCircuitBreaker(path) };
    guards.set(path, created);
    return created;
  }
}

/** The outcome of an unsent attempt whose signal has aborted. Rejects with the signal's reason if the caller aborted. */
function refuseAborted(deadline: Deadline): Promise<Shed> {
  return deadline.hasExpired() ? Promise.resolve(shed) : Promise.reject(deadline.reason);
}
