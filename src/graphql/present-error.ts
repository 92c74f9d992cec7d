import { GraphQLError } from 'graphql';
import { GatewayError, type ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';

interface PresentErrorOptions {
  requestId: string;
  redact: Redact;
  events: Events;
}

/**
 * The one door through which a failure leaves. Clients see the failures we foresee, by code, and their own mistakes
 * in GraphQL's words; every other failure is told to the operator and hidden.
 */
export function presentError(error: GraphQLError, { requestId, redact, events }: PresentErrorOptions): GraphQLError {
  const { message, extensions, hidden, isForeseen } = describeFailure(error, redact);
  if (hidden !== undefined) events.unexpectedError(hidden, requestId);
  // Both are Yoga's, and never reach the client: the status to answer with, and that it is 500 where there is no data.
  const forYoga = isForeseen ? statusOf(extensions.code, error.extensions.http) : { unexpected: true };
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { ...extensions, ...forYoga, requestId },
  });
}

interface DescribedFailure {
  message: string;
  extensions: { code: unknown; service: ServiceName | null; retryable: boolean };
  /** What the operator alone may see. */
  hidden?: unknown;
  isForeseen: boolean;
}

/** What may be said of a failure, wherever it is said. */
export function describeFailure(error: GraphQLError, redact: Redact): DescribedFailure {
  const cause = originOf(error);
  if (cause instanceof GatewayError) {
    const { message, code, service, retryable } = cause;
    return {
      message: redact(message),
      extensions: { code, service, retryable },
      hidden: cause.cause,
      isForeseen: true,
    };
  }
  const ours = { service: null, retryable: false };
  if (cause === null) {
    const code = error.extensions.code ?? 'BAD_USER_INPUT';
    return { message: redact(error.message), extensions: { code, ...ours }, isForeseen: true };
  }
  const message = 'Something went wrong inside the gateway.';
  return { message, extensions: { code: 'INTERNAL_SERVER_ERROR', ...ours }, hidden: cause, isForeseen: false };
}

/**
 * The status to answer with, as Yoga takes it. By `spec` it is 200 under application/json: right where GraphQL
 * refuses a request, and wrong where there is none, such as a body that is no JSON.
 * https://graphql.github.io/graphql-over-http/draft/#sec-application-json
 */
function statusOf(code: unknown, http: unknown): { http?: object } {
  if (typeof http !== 'object' || http === null) return {};
  return { http: { ...http, spec: code !== 'BAD_REQUEST' && code !== 'OPERATION_RESOLUTION_FAILURE' } };
}

/** What was thrown, behind any number of GraphQL's own wrappings; null when GraphQL itself raised the error. */
function originOf(error: GraphQLError): Error | null {
  const { originalError } = error;
  if (originalError === undefined) return null;
  return originalError instanceof GraphQLError ? originOf(originalError) : originalError;
}
