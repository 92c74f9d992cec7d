import type { Continuation } from '../async/sync-promise.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Deadline } from './deadline.ts';
import { GuardedAttempt, type GuardedAttemptOptions, type PathGuards } from './guarded-attempt.ts';
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
  const guards = new Map<string, PathGuards>();

  return (request, deadline, payer, continuation, retries = 0) => {
    if (bulkhead.enter()) {
      sendInSlot(request, deadline, payer, continuation, retries);
      return;
    }
    bulkhead.wait(payer.usage, deadline, (hasSlot) => {
      // Later: an attempt that leaves its slot at once must not start the next one within its own call.
      queueMicrotask(() => {
        if (hasSlot) sendInSlot(request, deadline, payer, continuation, retries);
        else refuse(deadline, continuation);
      });
      return hasSlot;
    });
  };

  /** Leaves the slot when the attempt has ended. */
  function sendInSlot(...[request, deadline, payer, continuation, retries]: Required<Parameters<Send>>): void {
    if (deadline.aborted) {
      bulkhead.leave();
      refuse(deadline, continuation);
      return;
    }
    if (request.method === 'POST') deadline.restart();
    const passed = guardsOf(request.path);
    const blockPass = passed.block.enter();
    if (typeof blockPass === 'object') {
      bulkhead.leave();
      continuation.onResolved(blockPass);
      return;
    }
    new GuardedAttempt(attemptOptions, request, deadline, payer, continuation, passed, blockPass).start(retries);
  }

  function guardsOf(path: string): PathGuards {
    const known = guards.get(path);
    if (known) return known;
    const created = { block: createRetryAfterBlock(), circuit: createCircuitBreaker(path) };
    guards.set(path, created);
    return created;
  }
}

/** Continues after an attempt that was not sent. */
function refuse(deadline: Deadline, continuation: Continuation<Outcome>): void {
  if (deadline.aborted && !deadline.hasExpired()) continuation.onRejected(deadline.reason);
  else continuation.onResolved(shed);
}
