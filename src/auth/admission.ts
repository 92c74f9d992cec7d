import type { Authentication, Unsigned } from './authenticate.ts';
import type { Caller } from './caller.ts';
import type { RateLimit } from './rate-limit.ts';
import { createRateRefusal, type Refusal } from './refusal.ts';
import type { SignedParams } from './router-signature.ts';

/** Whether a request is executed, and for which caller. */
export interface Admission {
  /**
   * Decides by the headers of a request, before its body is read. A promise only for new tokens, and while requests are
   * counted.
   * @param rawHeaders names and values in turn, as in `IncomingMessage.rawHeaders`
   */
  admit(rawHeaders: readonly string[]): Caller | Refusal | Unsigned | Promise<Caller | Refusal>;
  /** Decides about an unsigned request by its body. */
  admitBody(params: SignedParams): Caller | Refusal | Promise<Caller | Refusal>;
}

export function createAdmission(
  { authenticate, authenticateBody }: Pick<Authentication, 'authenticate' | 'authenticateBody'>,
  { count }: Pick<RateLimit, 'count'>,
): Admission {
  return {
    admit(rawHeaders) {
      const caller = authenticate(rawHeaders);
      if (caller instanceof Promise) return caller.then(withinLimit);
      return caller.kind === 'unsigned' ? caller : withinLimit(caller);
    },
    admitBody: (params) => withinLimit(authenticateBody(params)),
  };

  function withinLimit(caller: Caller | Refusal): Caller | Refusal | Promise<Caller | Refusal> {
    if (caller.kind === 'refused') return caller;
    const seconds = count(caller);
    return seconds instanceof Promise ? seconds.then((seconds) => decide(caller, seconds)) : decide(caller, seconds);
  }
}

function decide(caller: Caller, seconds: number | null): Caller | Refusal {
  return seconds === null ? caller : createRateRefusal(seconds);
}
