import { type Send, shedOrThrow } from '../operation.ts';
import type { Allowance } from './allowance.ts';

/** Reserves each call, retries included, immediately before it is sent: must be the innermost layer. */
export function withAllowance(send: Send, allowance: Allowance): Send {
  return async (request, deadline) => {
    const reservation = await allowance.reserve();
    if (reservation.kind === 'exhausted') return reservation;
    if (deadline.signal.aborted) {
      reservation.release();
      return shedOrThrow(deadline);
    }
    // From here on the reservation is kept even if the caller aborts: the call may already be sent.
    const outcome = await send(request, deadline);
    if (outcome.kind === 'failed' && outcome.reason === 'unreachable') reservation.release();
    if (outcome.kind === 'answered') reservation.recordAnswer(outcome);
    return outcome;
  };
}
