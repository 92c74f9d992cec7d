import { errors } from 'undici';
import type { FailureReason } from './operation.ts';

/** Why a call that was sent failed before its response began. */
export function reasonBeforeResponse(error: unknown): FailureReason {
  return isInvalidHttp(error) ? 'invalid' : 'reset';
}

/** Undici also rejects `100 Continue`, which is not sent to a request without `Expect`, and `101 Switching Protocols`. */
function isInvalidHttp(error: unknown): boolean {
  if (error instanceof errors.SocketError) return /^bad (?:response|upgrade)$/.test(error.message);
  return (
    error === tooManyInfos ||
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError
  );
}

export const tooManyInfos = new Error('too many interim responses');
