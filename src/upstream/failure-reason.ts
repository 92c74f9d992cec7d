import { errors } from 'undici';
import { errorCodeOf } from '../errors.ts';
import type { FailureReason } from './operation.ts';

/** Errors of connecting: https://nodejs.org/api/errors.html#common-system-errors and undici's connect timeout. */
const connectErrors = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Why a call failed before its response began. */
export function reasonBeforeResponse(error: unknown): FailureReason {
  const codes = error instanceof AggregateError ? error.errors.map(errorCodeOf) : [errorCodeOf(error)];
  if (codes.every((code) => code !== null && connectErrors.has(code))) return 'unreachable';
  return isInvalidHttp(error) ? 'invalid' : 'reset';
}

/** Undici also rejects `100 Continue`, which is not sent to a request without `Expect`, and `101 Switching Protocols`. */
function isInvalidHttp(error: unknown): boolean {
  if (error instanceof errors.SocketError) return /^bad (?:response|upgrade)$/.test(error.message);
  return (
    error === tooManyInfos || error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError
  );
}

export const tooManyInfos = new Error('too many interim responses');
