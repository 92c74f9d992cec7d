import type { Signal } from '../async/signal.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Deadline } from './deadline.ts';
import { type MakeCall, type Outcome, type Send, type Shed, shed } from './operation.ts';
import type { Reserve } from './reserve.ts';
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
 * Sends one attempt past all guards. A guard that has nothing to object costs a comparison. The queue is the outermost:
 * what changes while an attempt waits is checked afterwards. After the queue, a read has only the remaining time; for a
 * write the deadline restarts.
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

  return async (request, deadline, payer, retries) => {
    if (!bulkhead.enter() && !(await waitForSlot(payer.usage, deadline))) {
      return deadline.aborted ? shedOrThrow(deadline) : shed;
    }
    try {
      if (deadline.aborted) return shedOrThrow(deadline);
      if (request.method === 'POST') deadline.restart();
      const { block, circuit } = guardsOf(request.path);
      const blockPass = block.enter();
      if (typeof blockPass === 'object') return blockPass;
      const circuitPass = circuit.enter();
      let outcome: Outcome = shed;
      let isPaid = false;
      try {
        if (circuitPass === null || (request.maySend && !(await request.maySend()))) return shed;
        const reserving = reserve(payer);
        const reservation = reserving instanceof Promise ? await reserving : reserving;
        if (reservation.kind !== 'reserved') return reservation;
        if (deadline.aborted) {
          reservation.release();
          return shedOrThrow(deadline);
        }
        // From here on the call is counted even if the caller aborts: it may already be sent.
        request.onSent?.();
        payer.usage.upstreamCalls += 1;
        isPaid = true;
        outcome = await makeCall(request, deadline, payer.trace, retries);
        isPaid = outcome.kind !== 'failed' || outcome.reason !== 'unreachable';
        if (!isPaid) reservation.release();
        if (outcome.kind === 'answered') reservation.recordAnswer(outcome);
        return outcome;
      } finally {
        if (isPaid) onPaid();
        if (circuitPass !== null) circuit.leave(circuitPass, outcome);
        block.leave(blockPass, outcome);
      }
    } finally {
      bulkhead.leave();
    }
  };

  function waitForSlot(key: object, signal: Signal): Promise<boolean> {
    return new Promise((resolve) => {
      bulkhead.wait(key, signal, (hasSlot) => {
        resolve(hasSlot);
        return hasSlot;
      });
    });
  }

  function guardsOf(path: string): PathGuards {
    const known = guards.get(path);
    if (known) return known;
    const created = { block: createRetryAfterBlock(), circuit: createCircuitBreaker(path) };
    guards.set(path, created);
    return created;
  }
}

/** The outcome of an unsent attempt whose signal has aborted. @throws the signal's reason if the caller aborted */
function shedOrThrow(deadline: Deadline): Shed {
  if (deadline.hasExpired()) return shed;
  throw deadline.reason;
}
