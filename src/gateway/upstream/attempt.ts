import type { ServiceName } from '../../base/errors.ts';
import type { BudgetExhausted, BudgetedCall, RequestContext } from '../request-context.ts';
import type { Events, PaidCall } from '../telemetry/events.ts';
import type { Allowance } from './allowance/allowance.ts';
import { type Reservation, type Reserved, reserveToo } from './allowance/period-count.ts';
import type { Deadline } from './deadline.ts';
import type { Guard, RecordOutcome } from './guards.ts';
import { type Outcome, shed, type UpstreamRequest } from './outcome.ts';
import type { CallQueue } from './queue.ts';

/** One attempt of an operation. */
export interface Attempt {
  request: UpstreamRequest;
  deadline: Deadline;
  /** That of the first request, if several wait for a look-up. */
  context: Pick<RequestContext, 'requestKey' | 'callerId' | 'origin' | 'usage' | 'reserveCall' | 'trace'>;
  /** Number of earlier attempts. */
  retries: number;
}

/** Sends an operation or one attempt. Rejects only if the caller aborts, with the signal's reason. */
export type Send = (attempt: Attempt) => Promise<Outcome>;

/**
 * Makes one call.
 * @param onSending called immediately before the call is sent: until then, it may wait for its connection
 */
export type MakeCall = (attempt: Attempt, onSending: () => void) => Promise<Outcome>;

interface AttemptOptions {
  service: ServiceName;
  queue: CallQueue;
  /** The guard of a path: an endpoint that fails does not stop the others. */
  createGuard: (path: string) => Guard;
  allowance: Pick<Allowance, 'reserve'>;
  makeCall: MakeCall;
  events: Pick<Events, 'callBegins' | 'callEnded'>;
}

/**
 * Sends one attempt past all guards: the queue, the guard of its path, the budget, the allowance and, for an order, its record. The
 * queue is the outermost: what changes while an attempt waits is checked afterwards. After the queue, a read has only the
 * remaining time; for a write the deadline restarts.
 */
export function createAttempt({ service, queue, createGuard, allowance, makeCall, events }: AttemptOptions): Send {
  const guards = new Map<string, Guard>();

  return async (attempt) => {
    const { request, deadline, context } = attempt;
    const entered = queue.enter(context.requestKey, deadline, context.callerId);
    if (entered !== true && !(await entered)) return shedUnlessAborted(deadline);
    let record: RecordOutcome | null = null;
    let reservation: Reservation | null = null;
    let begun: PaidCall | null = null;
    let isSent = false;
    let startedAt = 0;
    let outcome: Outcome = shed;
    try {
      if (deadline.aborted) return shedUnlessAborted(deadline);
      if (request.method === 'POST') deadline.restart();
      const guard = guards.get(request.path) ?? createGuard(request.path);
      guards.set(request.path, guard);
      const passed = guard.enter();
      if (typeof passed !== 'function') return passed;
      record = passed;
      // Counted in the gateway's allowance and, if there is one, in the caller's own budget; a promise if that waits for a store.
      const budgeted = context.reserveCall?.(service) ?? null;
      const reserving = budgeted === null ? allowance.reserve() : reserveBoth(budgeted);
      const reserved = reserving instanceof Promise ? await reserving : reserving;
      if (reserved.kind !== 'reserved') return reserved;
      reservation = reserved;
      // The last guard, because it records an order as sent: one that exceeds the budget is not stored.
      if (!deadline.aborted && request.maySend && !(await request.maySend())) return shed;
      if (deadline.aborted) return shedUnlessAborted(deadline);
      const cause = attempt.retries > 0 ? 'retry' : (request.cause ?? 'new');
      begun = { service, method: request.method, path: request.path, origin: context.origin, cause, ready: null };
      events.callBegins(begun);
      if (begun.ready !== null) {
        await begun.ready;
        if (deadline.aborted) return shedUnlessAborted(deadline);
      }
      request.beforeAttempt?.();
      context.usage.upstreamCalls += 1;
      startedAt = performance.now();
      outcome = await makeCall(attempt, () => {
        isSent = true;
      });
      return outcome;
    } finally {
      record?.(outcome);
      // Clients often leave together: a call that started at once could be for a client that is about to leave.
      if (deadline.aborted && !deadline.hasExpired()) setImmediate(queue.leave);
      else queue.leave();
      // If the caller has aborted a call that was sent, it may be charged.
      if (outcome.kind === 'failed' && outcome.reason === 'unreachable') isSent = false;
      if (!isSent) reservation?.release();
      if (begun !== null) {
        const ended = outcome.kind === 'answered' || outcome.kind === 'failed' ? outcome : null;
        events.callEnded(begun, { outcome: ended, isSent, durationMs: performance.now() - startedAt });
      }
      if (outcome.kind === 'answered') reservation?.recordAnswer(outcome);
    }
  };

  async function reserveBoth(budgeted: BudgetedCall | Promise<BudgetedCall>): Promise<Reserved | BudgetExhausted> {
    const budget = await budgeted;
    return budget.kind === 'reserved' ? reserveToo(budget, allowance.reserve()) : budget;
  }
}

/** @throws the reason of a caller who has aborted */
function shedUnlessAborted(deadline: Deadline): Outcome {
  if (!deadline.hasExpired()) deadline.throwIfAborted();
  return shed;
}
