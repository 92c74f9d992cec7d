import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { GatewayError, internalErrorMessage } from '../../../base/errors.ts';
import type { Redact } from '../../../base/redact.ts';
import { StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import { locate, maxErrors } from '../documents/document-errors.ts';

interface PresentErrorOptions {
  requestId: string;
  /** Whether messages must not suggest names of the schema. */
  hidesSuggestions: boolean;
  redact: Redact;
  events: Pick<Events, 'unexpectedError'>;
}

/** An error as clients see it, and what it means for the HTTP response. */
export interface PresentedError {
  shown: GraphQLFormattedError;
  /** Null if it does not set a status. */
  http: HttpExtension | null;
  isExpected: boolean;
}

/** Status and headers that an error sets, in the format of Yoga's `extensions.http`. */
interface HttpExtension {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  /**
   * With application/json, the status is 200 nevertheless: correct for a GraphQL request that is not valid, but not for a
   * body that is not a GraphQL request. Older drafts of GraphQL over HTTP required it, and the audits of graphql-http do.
   */
  spec: boolean;
}

/** The errors of a response; if there are very many, the first ones and a summary. */
export function presentErrors(errors: readonly GraphQLError[], options: PresentErrorOptions): PresentedError[] {
  const presented = errors.slice(0, maxErrors).map((error, index) => presentError(error, options, index < maxLogged));
  if (errors.length <= maxErrors) return presented;
  const message = `${errors.length - maxErrors} more errors are not listed; a response lists at most ${maxErrors}.`;
  const { requestId } = options;
  const extensions = { code: 'TOO_MANY_ERRORS', service: null, retryable: false, requestId };
  return [...presented, { shown: { message, extensions }, http: null, isExpected: true }];
}

/** A fault of a list is the same in each of its items. */
const maxLogged = 100;

/**
 * Presents every failure to clients: expected failures by code, invalid requests in GraphQL's own messages. All others
 * are logged in full, and clients receive a generic message.
 */
function presentError(error: GraphQLError, options: PresentErrorOptions, isLogged: boolean): PresentedError {
  const { requestId, events } = options;
  const { message, extensions, logged, isExpected } = describeFailure(error, options);
  if (isLogged && logged !== undefined) events.unexpectedError(logged, { requestId });
  const locations = locate(error);
  const { path } = error;
  const shown = {
    message,
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: { ...extensions, requestId },
  };
  return { shown, http: isExpected ? readHttpExtension(extensions.code, error.extensions?.http) : null, isExpected };
}

/** The part of a failure that clients and routers may see, and the error that is logged. */
export function describeFailure(
  error: GraphQLError,
  { hidesSuggestions, redact }: Pick<PresentErrorOptions, 'hidesSuggestions' | 'redact'>,
) {
  const original = findOriginalError(error);
  if (original instanceof GatewayError) {
    const { message, code, service, retryable, cause: logged } = original;
    return { message, extensions: { code, service, retryable }, logged, isExpected: true };
  }
  // An outage of the store is logged once; a damaged entry in it is a fault.
  if (original instanceof StoreError && original.failure !== 'corrupt') {
    const extensions = { code: 'UPSTREAM_UNAVAILABLE', service: null, retryable: true };
    return { message: storeFailedMessage, extensions, logged: undefined, isExpected: true };
  }
  const noService = { service: null, retryable: false };
  if (original === null) {
    const code = error.extensions?.code ?? 'BAD_USER_INPUT';
    // GraphQL's messages repeat names and values of the request. What is redacted becomes shorter, so more than is shown.
    const redacted = redact(error.message.slice(0, 10 * maxMessageLength));
    const message = hidesSuggestions ? redacted.replace(suggestions, '') : redacted;
    const shown = message.slice(0, maxMessageLength);
    return { message: shown, extensions: { code, ...noService }, logged: undefined, isExpected: true };
  }
  const extensions = { code: 'INTERNAL_SERVER_ERROR', ...noService };
  return { message: internalErrorMessage, extensions, logged: original, isExpected: false };
}

function readHttpExtension(code: unknown, http: unknown): HttpExtension | null {
  if (typeof http !== 'object' || http === null) return null;
  return { ...http, spec: code !== 'BAD_REQUEST' && code !== 'OPERATION_RESOLUTION_FAILURE' };
}

/** The error inside GraphQL's wrappers; null if GraphQL itself raised it because of the request. */
function findOriginalError({ originalError, path }: GraphQLError): Error | null {
  if (!originalError) return null;
  if (!(originalError instanceof GraphQLError)) return originalError;
  // A value of the gateway that its type cannot represent: other errors of fields have a place in the document.
  if (path && !originalError.nodes && !originalError.originalError) return originalError;
  return findOriginalError(originalError);
}

const storeFailedMessage = 'The store of the gateway cannot be reached; retry in some seconds.';

/** At the end of GraphQL's messages. Text of the client that looks like one is removed as well: that takes linear time. */
const suggestions = / Did you mean [^?]*(\?|$)/g;

const maxMessageLength = 1_000;
