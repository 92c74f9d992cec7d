import { GraphQLError } from 'graphql';
import { GatewayError, internalErrorMessage, type ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';
import { locate } from './document-source.ts';

/** Errors of one response. Each takes the time to count the lines up to its location. */
export const maxErrors = 100;

interface PresentErrorOptions {
  requestId: string;
  redact: Redact;
  events: Events;
}

/**
 * Presents every failure to clients: expected failures by code, invalid requests in GraphQL's own messages. All others
 * are logged in full, and clients receive a generic message.
 */
export function presentError(error: GraphQLError, { requestId, redact, events }: PresentErrorOptions): GraphQLError {
  const { message, extensions, logged, isExpected } = describeFailure(error, redact);
  if (logged !== undefined) events.unexpectedError(logged, requestId);
  // Yoga removes both: `http` sets the status, `unexpected` makes it 500 if there is no data.
  const forYoga = isExpected ? toHttpExtension(extensions.code, error.extensions.http) : { unexpected: true };
  return new GraphQLError(message, {
    ...locate(error),
    path: error.path ?? null,
    extensions: { ...extensions, ...forYoga, requestId },
  });
}

interface DescribedFailure {
  message: string;
  extensions: { code: unknown; service: ServiceName | null; retryable: boolean };
  /** For the log only. */
  logged?: unknown;
  isExpected: boolean;
}

/** The part of a failure that clients and routers may see. */
export function describeFailure(error: GraphQLError, redact: Redact): DescribedFailure {
  const original = findOriginalError(error);
  if (original instanceof GatewayError) {
    const { message, code, service, retryable } = original;
    return {
      message: redact(message),
      extensions: { code, service, retryable },
      logged: original.cause,
      isExpected: true,
    };
  }
  const noService = { service: null, retryable: false };
  if (original === null) {
    const code = error.extensions.code ?? 'BAD_USER_INPUT';
    // GraphQL's messages repeat names and values of the request.
    const message = redact(error.message).slice(0, maxMessageLength);
    return { message, extensions: { code, ...noService }, isExpected: true };
  }
  const extensions = { code: 'INTERNAL_SERVER_ERROR', ...noService };
  return { message: internalErrorMessage, extensions, logged: original, isExpected: false };
}

/**
 * The HTTP status in Yoga's format. `spec` changes it to 200 for application/json: correct for a GraphQL request that is
 * not valid, but not for a body that is not a GraphQL request.
 * https://graphql.github.io/graphql-over-http/draft/#sec-application-json
 */
function toHttpExtension(code: unknown, http: unknown): { http?: object } {
  if (typeof http !== 'object' || http === null) return {};
  return { http: { ...http, spec: code !== 'BAD_REQUEST' && code !== 'OPERATION_RESOLUTION_FAILURE' } };
}

/** The error inside GraphQL's wrappers; null if GraphQL itself raised it. */
function findOriginalError(error: GraphQLError): Error | null {
  const { originalError } = error;
  if (originalError === undefined) return null;
  return originalError instanceof GraphQLError ? findOriginalError(originalError) : originalError;
}

const maxMessageLength = 1_000;
