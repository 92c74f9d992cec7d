import type { Continuation } from '../async/sync-promise.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { GuardedAttempt, type GuardedAttemptOptions, type PassedGuards } from './guarded-attempt.ts';
import { type Outcome, type Send, shed } from './operation.ts';
import type { RetryAfterBlock } from './retry-after.ts';

interface AttemptOptions extends Omit<GuardedAttemptOptions, 'leave'> {
  bulkhead: Bulkhead;
  createCircuitBreaker: (path: string) => CircuitBreaker;
  createRetryAfterBlock: () => RetryAfterBlock;
}

/**
 * Sends one attempt past all guards. A guard that has nothing to object costs a comparison. The queue is the outermost guard:
 * what changes while an attempt waits is checked afterwards. After the queue, a read has only the remaining time; for a write
 * the deadline restarts.
 */
export function createAttempt({
  bulkhead,
  createCircuitBreaker,
  createRetryAfterBlock,
  ...options
}: AttemptOptions): Send {
  const attemptOptions = { ...options, leave: bulkhead.leave };
  const guards = new Map<string, Pick<PassedGuards, 'block' | 'circuit'>>();

  /** Leaves the slot when the attempt has ended. */
  const sendInSlot: Send = (request, deadline, payer, continuation, retries = 0) => {
    if (deadline.aborted) {
      bulkhead.leave();
      if (deadline.hasExpired()) continuation.onResolved(shed);
      else continuation.onRejected(deadline.reason);
      return;
    }
    if (request.method === 'POST') deadline.restart();
    const { block, circuit } = guardsOf(request.path);
    const blockPass = block.enter();
    if (typeof blockPass === 'object') return refuse(continuation, blockPass);
    const circuitPass = circuit.enter();
    if (circuitPass === null) {
      block.leave(blockPass, shed);
      return refuse(continuation, shed);
    }
    const passed = { block, blockPass, circuit, circuitPass };
    new GuardedAttempt(attemptOptions, request, deadline, payer, continuation, passed).start(retries);
  };

  return (request, deadline, payer, continuation, retries) => {
    if (bulkhead.enter()) {
      sendInSlot(request, deadline, payer, continuation, retries);
      return;
    }
    bulkhead.wait(payer.usage, deadline, (hasSlot) => {
      // Later: an attempt that leaves its slot at once must not start the next one within its own call.
      queueMicrotask(() => {
        if (hasSlot) sendInSlot(request, deadline, payer, continuation, retries);
        else if (deadline.aborted && !deadline.hasExpired()) continuation.onRejected(deadline.reason);
        else continuation.onResolved(shed);
      });
      return hasSlot;
    });
  };

  function refuse(continuation: Continuation<Outcome>, outcome: Outcome): void {
    bulkhead.leave();
    continuation.onResolved(outcome);
  }

  function guardsOf(path: string): Pick<PassedGuards, 'block' | 'circuit'> {
    const known = guards.get(path);
    if (known) return known;
    const created = { block: createRetryAfterBlock(), circuit: createCircuitBreaker(path) };
    guards.set(path, created);
    return created;
  }
}
