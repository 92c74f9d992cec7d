import { GatewayError, type ServiceName, type UpstreamErrorCode } from '../../base/errors.ts';
import type { BudgetExhausted } from '../request-context.ts';
import type { Events } from '../telemetry/events.ts';
import { isProbedBefore } from './circuit.ts';
import {
  type Answered,
  type AnswerFault,
  type Exhausted,
  type FailureReason,
  type Outcome,
  type Refusal,
  refusalOf,
} from './outcome.ts';

type UpstreamError = GatewayError<UpstreamErrorCode>;
/** Failures that only the operator can fix. */
export type UpstreamErrorEvents = Pick<
  Events,
  'credentialsRejected' | 'callRefused' | 'requestRejected' | 'responseUnreadable'
>;

/**
 * The error that a client receives for an outcome without a usable answer. Failures that only the operator can fix are
 * also reported as events.
 */
export function toUpstreamError(
  service: ServiceName,
  outcome: Exclude<Outcome, { kind: 'abandoned' }>,
  events: UpstreamErrorEvents,
): UpstreamError | ReturnType<typeof createExhaustedError> {
  switch (outcome.kind) {
    case 'shed':
      return createError(service, 'UPSTREAM_UNAVAILABLE', failureMessages.shed, true);
    case 'exhausted':
    case 'budget-exhausted':
      return createExhaustedError(service, outcome);
    case 'uncounted':
      return createUncountedError(service);
    case 'blocked':
      return outcome.cause === 'credentials'
        ? createRejectedError(service)
        : createBlockedError(service, outcome.retryAt);
    case 'failed': {
      const code = outcome.reason === 'timed-out' ? 'UPSTREAM_TIMED_OUT' : 'UPSTREAM_FAILED';
      return createError(service, code, failureMessages[outcome.reason], true);
    }
    case 'answered':
      return toStatusError(service, outcome, events);
  }
}

function toStatusError(service: ServiceName, answer: Answered, events: UpstreamErrorEvents): UpstreamError {
  const { status, retryAt } = answer;
  const refusal = refusalOf(answer);
  if (refusal === 'credentials') {
    events.credentialsRejected(service);
    return createRejectedError(service);
  }
  if (refusal === 'allowance') {
    events.callRefused(service);
    if (status === 429) return createBlockedError(service, retryAt);
    return createError(service, 'UPSTREAM_ALLOWANCE_EXHAUSTED', 'says that its allowance is exhausted');
  }
  if (status === 408 || status === 504)
    return createError(service, 'UPSTREAM_TIMED_OUT', failureMessages['timed-out'], true);
  if (status === 404) return createNotOfferedError(service);
  if (status >= 500) return createError(service, 'UPSTREAM_FAILED', 'failed', true);
  if (status >= 400) {
    events.requestRejected(service, status);
    return createError(service, 'UPSTREAM_FAILED', 'rejected the request');
  }
  events.responseUnreadable(service, status);
  return createError(service, 'UPSTREAM_FAILED', 'returned a response that could not be read', true);
}

/** What is wrong with an answer that has not what was asked for, by the texts in its body. */
export function findAnswerFault(body: unknown): AnswerFault {
  const refusal = findRefusal(body);
  return refusal === null || refusal === 'failure' ? 'unreadable' : refusal;
}

type RefusalText = Refusal | 'failure';

/** What the texts of a body say in place of an answer. Null if they say nothing of it. */
export function findRefusal(body: unknown): RefusalText | null {
  const values = [body];
  for (const value of values) {
    const refusal = typeof value === 'string' ? findRefusalInText(value) : null;
    if (refusal !== null) return refusal;
    if (typeof value !== 'object' || value === null) continue;
    for (const child of Object.values(value)) if (values.length < maxValues) values.push(child);
  }
  return null;
}

/**
 * What a text says in place of an answer: that the allowance is exhausted, the key rejected, or that the service failed. Null if it
 * says neither, or is long.
 * @example
 * findRefusalInText('rate_limit_exceeded') // => 'allowance'
 * findRefusalInText('InvalidApiKey') // => 'credentials'
 */
export function findRefusalInText(text: string): RefusalText | null {
  if (text.length > maxMessageLength) return null;
  const words = text.replaceAll('_', ' ').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  if (allowance.test(words)) return 'allowance';
  if (credentials.test(words)) return 'credentials';
  return failure.test(words) ? 'failure' : null;
}

/** Of a body: an error has fewer. */
const maxValues = 200;
/** Messages are shorter; an essay may be about allowances. */
export const maxMessageLength = 400;
const allowance =
  /\b(?:quota|credits?|allowance|plan|subscription|trial|usage|(?:rate|request|monthly|daily|usage|api)[ -]limits?)\b[^.!?]{0,60}\b(?:exceed|exhaust|reach|used up|insufficient|expired|ended|ran out|run out)|\b(?:exceed|exhaust|reach|used up|insufficient|out of)\w*\b[^.!?]{0,40}\b(?:quota|credits?|allowance|balance|funds|limit|requests)\b|\blimit exceeded\b|\blimit has been reached\b|\btoo many (?:requests|attempts)\b|\b(?:no|0) (?:\w+ ){0,2}(?:requests|credits|calls|words|essays) (?:left|remain)|\blimit of\b[^.!?]{0,60}\bused\b|\b(?:used|generated|consumed) (?:all |your )*\d+ (?!of\b)(?:\w+ )?(?:requests|credits|calls|essays)\b|\bthrottled\b|\bpayment required\b/i;
const credentials =
  /\bun-?authenticated\b|\bunauthorized\b|\bunauthorised\b|\bnot (?:authenticated|authorized|subscribed)\b|\bauthentication (?:failed|required|credentials)|\b(?:invalid|wrong|missing|expired|no|incorrect)\b[^.!?]{0,20}\b(?:token|api[ -]?key|subscription key|credentials)\b|\bkey (?:is )?(?:not valid|invalid)\b|\b(?:token|key)\b[^.!?]{0,40}\b(?:deactivated|disabled|revoked|suspended|does not (?:belong|exist))\b|\baccess denied\b/i;
const failure =
  /\b(?:server error|service unavailable|temporarily unavailable|bad gateway|gateway time-?out|something went wrong|please try again|try again later|(?:could not|failed to|unable to) (?:be )?generate|could not be (?:processed|completed)|an error (?:has )?occurred|request (?:has )?timed out|down for maintenance|traceback|exception in)\b/i;

/** The upstream, or the plan of its key, has no such endpoint. */
export function createNotOfferedError(service: ServiceName): UpstreamError {
  return createError(service, 'UPSTREAM_FAILED', 'does not offer this operation');
}

export function createExhaustedError(service: ServiceName, { kind, renewsAt }: Exhausted | BudgetExhausted) {
  if (renewsAt === null) {
    const message = `The ${serviceNames[service]} service was not called: the request may make no further paid calls (Paid-Calls-Max).`;
    return new GatewayError('PAID_CALLS_EXCEEDED', message, { service });
  }
  const isBudget = kind === 'budget-exhausted';
  const counted = isBudget ? "The caller's budget of calls to" : 'The allowance of';
  const message = `${counted} the ${serviceNames[service]} service is exhausted; it renews at ${renewsAt.toISOString()}.`;
  return new GatewayError(isBudget ? 'BUDGET_EXHAUSTED' : 'UPSTREAM_ALLOWANCE_EXHAUSTED', message, { service });
}

export function createUncountedError(service: ServiceName): UpstreamError {
  const message = 'was not called, because the store that counts its calls cannot be reached';
  return createError(service, 'UPSTREAM_UNAVAILABLE', message, true);
}

function createRejectedError(service: ServiceName): UpstreamError {
  return createError(service, 'UPSTREAM_REJECTED_CREDENTIALS', "rejected the gateway's key");
}

/** The service knows why: its allowance may be exhausted, or it may receive too many calls at a time. */
function createBlockedError(service: ServiceName, retryAt: Date | null): UpstreamError {
  const isProbed = retryAt !== null && isProbedBefore(retryAt);
  const wait = retryAt ? `; the gateway waits until ${retryAt.toISOString()} at most` : ', without saying until when';
  const probes = isProbed ? ', and probes it with one call a minute' : '';
  const message = `The ${serviceNames[service]} service has asked not to be called${wait}${probes}.`;
  return new GatewayError('UPSTREAM_ALLOWANCE_EXHAUSTED', message, { service });
}

function createError(service: ServiceName, code: UpstreamErrorCode, message: string, retryable = false): UpstreamError {
  return new GatewayError(code, `The ${serviceNames[service]} service ${message}.`, { service, retryable });
}

const serviceNames: Record<ServiceName, string> = { 'bank-data': 'bank-data', essays: 'essay' };
const failureMessages: Record<FailureReason | 'shed', string> = {
  shed: 'was not called, because it keeps failing or too many calls are waiting',
  unreachable: 'could not be reached',
  reset: 'closed the connection before it responded',
  invalid: 'returned a response that is not valid HTTP',
  truncated: 'closed the connection in the middle of its response',
  'too-large': 'returned a response that is too large',
  mismatched: 'returned the response to another request',
  'timed-out': 'did not respond in time',
};
