import { GatewayError, type ServiceName, type UpstreamErrorCode } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { FailureReason, Outcome } from './operation.ts';

type UpstreamError = GatewayError<UpstreamErrorCode>;
type UpstreamErrorEvents = Pick<Events, 'credentialsRejected' | 'requestRejected' | 'responseUnreadable'>;

/**
 * The error that a client receives for an outcome without a usable answer. What only an operator can fix is reported
 * to the operator as well.
 */
export function toUpstreamError(service: ServiceName, outcome: Outcome, events: UpstreamErrorEvents): UpstreamError {
  const fail = (code: UpstreamErrorCode, message: string, retryable = false) =>
    new GatewayError(code, `The ${service} service ${message}.`, { service, retryable });

  switch (outcome.kind) {
    case 'shed':
      return fail('UPSTREAM_UNAVAILABLE', 'keeps failing or is overloaded, so it was not called', true);
    case 'exhausted':
      return allowanceExhausted(service, outcome.renewsAt);
    case 'failed': {
      const code = outcome.reason === 'timed-out' ? 'UPSTREAM_TIMED_OUT' : 'UPSTREAM_FAILED';
      return fail(code, failureMessages[outcome.reason], true);
    }
  }
  const { status } = outcome;
  if (status === 401 || status === 403) {
    events.credentialsRejected(service);
    return fail('UPSTREAM_REJECTED_CREDENTIALS', "rejected the gateway's key");
  }
  if (status === 429) return allowanceExhausted(service, outcome.retryAt);
  if (status === 408) return fail('UPSTREAM_TIMED_OUT', failureMessages['timed-out'], true);
  if (status === 404) return notOffered(service);
  if (status >= 500) return fail('UPSTREAM_FAILED', 'failed', true);
  if (status >= 400) {
    events.requestRejected(service, status);
    return fail('UPSTREAM_FAILED', 'rejected the request');
  }
  events.responseUnreadable(service, status);
  return fail('UPSTREAM_FAILED', 'returned a response that could not be read', true);
}

/** The upstream, or the plan of its key, has no such endpoint. */
export function notOffered(service: ServiceName): UpstreamError {
  return new GatewayError('UPSTREAM_FAILED', `The ${service} service does not offer this.`, { service });
}

function allowanceExhausted(service: ServiceName, renewsAt: Date | null): UpstreamError {
  const renewal = renewsAt === null ? '' : `; it renews at ${renewsAt.toISOString()}`;
  const message = `The allowance of the ${service} service is used up${renewal}.`;
  return new GatewayError('UPSTREAM_ALLOWANCE_EXHAUSTED', message, { service });
}

const failureMessages: Record<FailureReason, string> = {
  unreachable: 'could not be reached',
  reset: 'closed the connection before it responded',
  truncated: 'closed the connection in the middle of its response',
  'too-large': 'returned a response that is too large',
  'timed-out': 'did not respond in time',
};
