import { pause } from '../async/pause.ts';
import { type Continuation, SyncPromise, toPromise } from '../async/sync-promise.ts';
import type { Deadline } from './deadline.ts';
import type { Outcome, Payer, Send, UpstreamRequest } from './operation.ts';

interface RetriesOptions {
  /** Upper bound of the first pause; it doubles with each retry. The pause is random, from 0 to that bound. */
  backoffMs: number;
  /** Called with the outcome of each operation, unless the caller aborts it. */
  onEnded: (outcome: Outcome) => void;
}

/**
 * Retries only what may succeed and is safe to repeat. A read is retried twice if the service failed or was not
 * reached, and once if its response could not be read. A write may be charged even if it fails, so it is retried, once,
 * only if it was definitely not accepted: it was never sent, or was rejected with 503. Ends the deadline.
 */
export function withRetries(send: Send, { backoffMs, onEnded }: RetriesOptions): Send {
  let budget = budgetBurst;
  const options = { retry, onEnded };

  return (request, deadline, payer, continuation) => {
    budget = Math.min(budgetBurst, budget + budgetShare);
    send(request, deadline, payer, new FirstAttempt(request, deadline, payer, continuation, options), 0);
  };

  /** Not part of the first attempt: an async function keeps all its variables for every call in flight. */
  async function retry(request: UpstreamRequest, deadline: Deadline, payer: Payer, first: Outcome): Promise<Outcome> {
    let outcome = first;
    try {
      for (let retries = 0; retries < maxRetries(request, outcome) && budget >= 1; retries += 1) {
        const pauseMs = Math.max(Math.random() * backoffMs * 2 ** retries, requestedPauseMs(outcome));
        if (pauseMs >= deadline.leftMs()) break;
        budget -= 1;
        await pause(pauseMs, deadline).catch(() => {});
        // Timers may fire up to a millisecond early, so the deadline can expire in a pause that should end before it.
        if (deadline.hasExpired()) break;
        deadline.throwIfAborted();
        outcome = await toPromise((continuation) => send(request, deadline, payer, continuation, retries + 1));
      }
      onEnded(outcome);
      return outcome;
    } finally {
      deadline.end();
    }
  }
}

interface OperationOptions {
  retry: (request: UpstreamRequest, deadline: Deadline, payer: Payer, first: Outcome) => Promise<Outcome>;
  onEnded: (outcome: Outcome) => void;
}

/** Continues when the first attempt of an operation has ended. */
class FirstAttempt implements Continuation<Outcome> {
  readonly #request: UpstreamRequest;
  readonly #deadline: Deadline;
  readonly #payer: Payer;
  readonly #continuation: Continuation<Outcome>;
  readonly #options: OperationOptions;

  constructor(
    request: UpstreamRequest,
    deadline: Deadline,
    payer: Payer,
    continuation: Continuation<Outcome>,
    options: OperationOptions,
  ) {
    this.#request = request;
    this.#deadline = deadline;
    this.#payer = payer;
    this.#continuation = continuation;
    this.#options = options;
  }

  onResolved(outcome: Outcome): void {
    if (maxRetries(this.#request, outcome) > 0) {
      const { retry } = this.#options;
      SyncPromise.continue(retry(this.#request, this.#deadline, this.#payer, outcome), this.#continuation);
      return;
    }
    this.#deadline.end();
    try {
      this.#options.onEnded(outcome);
    } catch (error) {
      this.#continuation.onRejected(error);
      return;
    }
    this.#continuation.onResolved(outcome);
  }

  onRejected(reason: unknown): void {
    this.#deadline.end();
    this.#continuation.onRejected(reason);
  }
}

/** Average number of retries per operation: a failing upstream must not receive a multiple of its normal load. */
const budgetShare = 0.1;
/** Number of retries that are possible at once before `budgetShare` limits them. */
const budgetBurst = 10;

function maxRetries({ method }: UpstreamRequest, outcome: Outcome): number {
  if (method === 'POST') return isDefinitelyNotAccepted(outcome) ? 1 : 0;
  if (outcome.kind === 'answered') {
    if (outcome.status === 200) return outcome.json === undefined ? 1 : 0;
    return [500, 502, 503, 504].includes(outcome.status) ? 2 : 0;
  }
  if (outcome.kind !== 'failed') return 0;
  return retriesAfter[outcome.reason];
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
