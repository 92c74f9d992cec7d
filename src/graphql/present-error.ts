import { GraphQLError } from 'graphql';
import { GatewayError } from '../errors.ts';
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
  const present = (message: string, extensions: Record<string, unknown>) =>
    new GraphQLError(redact(message), {
      nodes: error.nodes ?? null,
      source: error.source ?? null,
      positions: error.positions ?? null,
      path: error.path ?? null,
      extensions: { ...extensions, requestId },
    });

  const cause = originOf(error);
  if (cause instanceof GatewayError) {
    const { code, service, retryable } = cause;
    if (cause.cause !== undefined) events.unexpectedError(cause.cause, requestId);
    return present(cause.message, { code, service, retryable });
  }
  // `http` is Yoga's: the status to answer with. It never reaches the client.
  const http = error.extensions.http === undefined ? {} : { http: error.extensions.http };
  if (cause === null) {
    const code = error.extensions.code ?? 'BAD_USER_INPUT';
    return present(error.message, { code, service: null, retryable: false, ...http });
  }
  events.unexpectedError(cause, requestId);
  const code = 'INTERNAL_SERVER_ERROR';
  // By `unexpected` Yoga answers 500 where there is no data at all, and takes it out as well.
  return present('Something went wrong inside the gateway.', {
    code,
    service: null,
    retryable: false,
    unexpected: true,
  });
}

/** What was thrown, behind any number of GraphQL's own wrappings; null when GraphQL itself raised the error. */
function originOf(error: GraphQLError): Error | null {
  const { originalError } = error;
  if (originalError === undefined) return null;
  return originalError instanceof GraphQLError ? originOf(originalError) : originalError;
}
