import { DelegateBackoff, handleWhenResult, retry } from 'cockatiel';
import { readRetryAfter } from './retry-after.ts';
import type { RestClient, RestOutcome, RestRequest } from './upstream-client.ts';

interface RetriesOptions {
  /** Deadline of the whole operation, retries included, in milliseconds. */
  timeoutMs: number;
  /** Upper bound of the first wait, in milliseconds; it doubles with each retry. The wait is drawn from 0 to it. */
  backoffMs?: number;
  /** Retries per first call, over time: a failing upstream is not to be hit by a multiple of the load that it failed under. */
  budgetShare?: number;
  /** Retries that may come at once before the share counts. */
  budgetBurst?: number;
}

/**
 * Sends again what may succeed the second time and cannot do harm. A read is tried up to three times where the service
 * failed or was not reached, and twice where its answer could not be read. A write may have been charged whatever came
 * of it, so it is sent again only where it surely was not taken: it never left, or was turned away with 503.
 */
export function withRetries(
  client: RestClient,
  { timeoutMs, backoffMs = 100, budgetShare = 0.1, budgetBurst = 10 }: RetriesOptions,
): RestClient {
  let budget = budgetBurst;

  return {
    ...client,
    send(request, caller, withinMs = timeoutMs) {
      budget = Math.min(budgetBurst, budget + budgetShare);
      const endsAt = performance.now() + withinMs;
      const leftMs = () => endsAt - performance.now();
      let retries = 0;
      let waitMs = 0;
      const policy = retry(
        handleWhenResult((outcome) => {
          if (retries >= mostRetries(request, outcome as RestOutcome) || budget < 1) return false;
          waitMs = Math.max(Math.random() * backoffMs * 2 ** retries, askedWaitMs(outcome as RestOutcome));
          if (waitMs >= leftMs()) return false;
          budget -= 1;
          retries += 1;
          return true;
        }),
        { maxAttempts: 3, backoff: new DelegateBackoff(() => waitMs) },
      );
      return policy.execute(() => client.send(request, caller, leftMs()));
    },
  };
}

function mostRetries({ method }: RestRequest, outcome: RestOutcome): number {
  if (method === 'POST') return isSurelyNotTaken(outcome) ? 1 : 0;
  if (outcome.kind === 'answer') {
    if (outcome.status === 200) return outcome.json === undefined ? 1 : 0;
    return [500, 502, 503, 504].includes(outcome.status) ? 2 : 0;
  }
  switch (outcome.reason) {
    case 'unreachable':
    case 'reset':
      return 2;
    case 'truncated':
    case 'too-large':
      return 1;
    // The deadline is the whole operation's; and what was shed is to bring relief.
    case 'timed-out':
    case 'shed':
      return 0;
  }
}

function isSurelyNotTaken(outcome: RestOutcome): boolean {
  return outcome.kind === 'answer' ? outcome.status === 503 : outcome.reason === 'unreachable';
}

function askedWaitMs(outcome: RestOutcome): number {
  const at = outcome.kind === 'answer' ? readRetryAfter(outcome.headers['retry-after'], new Date()) : null;
  return at === null ? 0 : at.getTime() - Date.now();
}
