import { pause } from '../../base/async/pause.ts';
import type { Attempt, Send } from './attempt.ts';
import type { Outcome, UpstreamRequest } from './outcome.ts';

/**
 * Retries only what may succeed and is safe to repeat. A read is retried twice if the service failed or was not
 * reached, and once if its response could not be read. A write may be charged even if it fails, so it is retried, once,
 * only if it was definitely not accepted: it was never sent, or was rejected with 503.
 * @param options `backoffMs`: upper bound of the first pause, which is random, from 0; it doubles with each retry
 */
export function withRetries(send: Send, { backoffMs }: { backoffMs: number }): Send {
  let left = maxBurst;

  return async (attempt: Attempt) => {
    const { request, deadline } = attempt;
    left = Math.min(maxBurst, left + perOperation);
    let outcome = await send(attempt);
    for (let retries = 0; retries < maxRetries(request, outcome) && left >= 1; retries += 1) {
      const pauseMs = Math.max(Math.random() * backoffMs * 2 ** retries, requestedPauseMs(outcome));
      if (pauseMs >= deadline.leftMs()) break;
      left -= 1;
      await pause(pauseMs, deadline).catch(() => {});
      // Timers may fire up to a millisecond early, so the deadline can expire in a pause that should end before it.
      if (deadline.hasExpired()) break;
      deadline.throwIfAborted();
      const retried = await send({ ...attempt, retries: retries + 1 });
      // The service has failed; that the caller cannot pay for another call says less.
      if (retried.kind === 'budget-exhausted') break;
      outcome = retried;
    }
    return outcome;
  };
}

/** Average number of retries per operation: a failing upstream must not receive a multiple of its normal load. */
const perOperation = 0.1;
/** Number of retries that are possible at once before `perOperation` limits them. */
const maxBurst = 10;

function maxRetries({ method }: UpstreamRequest, outcome: Outcome): number {
  if (method === 'POST') return isDefinitelyNotAccepted(outcome) ? 1 : 0;
  if (outcome.kind === 'answered') {
    if (outcome.status === 200) return outcome.json === undefined ? 1 : 0;
    return [500, 502, 503, 504].includes(outcome.status) ? 2 : 0;
  }
  return outcome.kind === 'failed' ? retriesAfter[outcome.reason] : 0;
}

/**
 * An invalid response is a fault that a retry does not cure, a mismatched one may be the service's answer to this input, and a
 * timeout has used up the deadline of the whole operation.
 */
const retriesAfter = {
  unreachable: 2,
  reset: 2,
  invalid: 0,
  truncated: 1,
  'too-large': 1,
  mismatched: 0,
  'timed-out': 0,
};

function isDefinitelyNotAccepted(outcome: Outcome): boolean {
  if (outcome.kind === 'answered') return outcome.status === 503;
  return outcome.kind === 'failed' && outcome.reason === 'unreachable';
}

function requestedPauseMs(outcome: Outcome): number {
  return outcome.kind === 'answered' && outcome.retryAt ? outcome.retryAt.getTime() - Date.now() : 0;
}
