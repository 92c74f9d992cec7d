import { endUnsent, type Outcome, type Send } from '../operation.ts';
import type { Allowance } from './allowance.ts';

/** Reserves every call, retries included, before it is sent: this is the innermost layer. */
export function withAllowance(send: Send, allowance: Allowance): Send {
  return async (request, deadline) => {
    const reservation = await allowance.reserve();
    if (reservation.kind === 'exhausted') return reservation;
    if (deadline.signal.aborted) {
      reservation.release();
      return endUnsent(deadline);
    }
    // A caller who leaves from here on gets no refund: the call may be on its way.
    const outcome = await send(request, deadline);
    if (isUnsent(outcome)) reservation.release();
    if (outcome.kind === 'answered') reservation.recordHeaders(outcome.headers);
    return outcome;
  };
}

function isUnsent(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && outcome.reason === 'unreachable';
}
