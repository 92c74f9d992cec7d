import { endUnsent, type Outcome, type Send } from '../operation.ts';
import type { Allowance } from './allowance.ts';

/**
 * Reserves every call, retries included, before it is sent, so this is the innermost layer. Nothing is sent while the
 * allowance is exhausted, nor to a path that answered 429 before the date in its `Retry-After`.
 */
export function withAllowance(send: Send, allowance: Allowance): Send {
  const blockedUntil = new Map<string, Date>();

  return async (request, deadline) => {
    const renewsAt = blockedUntil.get(request.path);
    if (renewsAt && Date.now() < renewsAt.getTime()) return { kind: 'exhausted', renewsAt };
    const reservation = await allowance.reserve();
    if (reservation.kind === 'exhausted') return reservation;
    if (deadline.signal.aborted) {
      reservation.release();
      return endUnsent(deadline);
    }
    // A caller who leaves from here on gets no refund: the call may be on its way.
    const outcome = await send(request, deadline);
    if (isUnsent(outcome)) reservation.release();
    if (outcome.kind === 'answered') {
      reservation.recordHeaders(outcome.headers);
      if (outcome.status === 429 && outcome.retryAt) blockedUntil.set(request.path, outcome.retryAt);
    }
    return outcome;
  };
}

function isUnsent(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && outcome.reason === 'unreachable';
}
