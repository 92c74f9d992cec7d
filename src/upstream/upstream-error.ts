import { GatewayError, type ServiceName, type UpstreamErrorCode } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import { readRetryAfter } from './retry-after.ts';
import type { RestFailureReason, RestOutcome } from './upstream-client.ts';

/**
 * What an outcome that does not answer the question means to a client, in the terms that every upstream shares.
 * What only an operator can mend is told to the operator as well.
 */
export function toUpstreamError(
  service: ServiceName,
  outcome: RestOutcome,
  events: Events,
): GatewayError<UpstreamErrorCode> {
  if (outcome.kind === 'failure') return toFailure(service, outcome.reason);

  const { status } = outcome;
  const fail = (message: string, retryable: boolean) =>
    new GatewayError('UPSTREAM_FAILED', `The ${service} service ${message}.`, { service, retryable });

  if (status === 401 || status === 403) {
    events.credentialsRejected(service);
    const message = `The ${service} service rejected the gateway's key.`;
    return new GatewayError('UPSTREAM_REJECTED_CREDENTIALS', message, { service });
  }
  if (status === 429) {
    const renewsAt = readRetryAfter(outcome.headers['retry-after'], new Date());
    const renewal = renewsAt === null ? '' : `; it renews at ${renewsAt.toISOString()}`;
    const message = `The allowance of the ${service} service is used up${renewal}.`;
    return new GatewayError('UPSTREAM_ALLOWANCE_EXHAUSTED', message, { service });
  }
  if (status === 408) return toFailure(service, 'timed-out');
  if (status >= 500) return fail('failed', true);
  if (status === 404) return notOffered(service);
  if (status >= 400) {
    events.requestRejected(service, status);
    return fail('refused the request', false);
  }
  events.responseUnreadable(service, status);
  return fail('gave an answer that could not be read', true);
}

/** The upstream, or the plan it is used under, has no such endpoint. */
export function notOffered(service: ServiceName): GatewayError<'UPSTREAM_FAILED'> {
  return new GatewayError('UPSTREAM_FAILED', `The ${service} service does not offer this.`, { service });
}

function toFailure(service: ServiceName, reason: RestFailureReason): GatewayError<UpstreamErrorCode> {
  const code = failureCodes[reason] ?? 'UPSTREAM_FAILED';
  return new GatewayError(code, `The ${service} service ${failures[reason]}.`, { service, retryable: true });
}

const failureCodes: Partial<Record<RestFailureReason, UpstreamErrorCode>> = {
  shed: 'UPSTREAM_UNAVAILABLE',
  'timed-out': 'UPSTREAM_TIMED_OUT',
};

const failures: Record<RestFailureReason, string> = {
  shed: 'keeps failing or is overloaded, so it was not asked',
  unreachable: 'could not be reached',
  reset: 'broke off before it answered',
  truncated: 'broke off in the middle of its answer',
  'too-large': 'gave an answer that is too large',
  'timed-out': 'did not answer in time',
};
