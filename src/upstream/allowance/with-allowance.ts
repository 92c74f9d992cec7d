import { type Send, shedOrThrow } from '../operation.ts';
import type { Allowance } from './allowance.ts';

/**
 * Reserves each call immediately before it is sent: must be the innermost layer, so that retries are counted. Nothing
 * is sent while the allowance is exhausted or, after a 429, to that path before the date in `Retry-After`.
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
      return shedOrThrow(deadline);
    }
    // From here on the reservation is kept even if the caller aborts: the call may already be sent.
    const outcome = await send(request, deadline);
    if (outcome.kind === 'failed' && outcome.reason === 'unreachable') reservation.release();
    if (outcome.kind === 'answered') {
      reservation.recordHeaders(outcome.headers);
      if (outcome.status === 429 && outcome.retryAt) blockedUntil.set(request.path, outcome.retryAt);
    }
    return outcome;
  };
}
