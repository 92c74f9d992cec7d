import type { Pass } from './circuit-breaker.ts';
import type { Exhausted, Outcome } from './operation.ts';

/** Does not call a path that answered 429 before its `Retry-After`. */
export interface RetryAfterBlock {
  /** The refusal while the path is blocked. */
  enter(): Pass | Exhausted;
  leave(pass: Pass, outcome: Outcome): void;
}

/**
 * A date that is further away than an hour may be wrong, so one call per hour checks it. Outside the circuit breaker: a
 * blocked call is neither a success nor a failure.
 */
export function createRetryAfterBlock(): RetryAfterBlock {
  let retryAt: Date | null = null;
  /** In milliseconds since 1970. */
  let probeAt = 0;
  let isProbing = false;

  return {
    enter() {
      if (retryAt === null || Date.now() >= retryAt.getTime()) return 'regular';
      if (isProbing || Date.now() < probeAt) return { kind: 'exhausted', renewsAt: retryAt };
      isProbing = true;
      return 'probe';
    },
    leave(pass, outcome) {
      const blockedUntil = retryAt;
      if (pass === 'probe') {
        isProbing = false;
        // Only the probe ends the block: other calls were sent before it began.
        if (outcome.kind === 'answered') retryAt = null;
      }
      if (outcome.kind !== 'answered' || outcome.status !== 429) return;
      const newRetryAt = outcome.retryAt ?? (pass === 'probe' ? blockedUntil : null);
      if (newRetryAt === null) return;
      retryAt = newRetryAt;
      probeAt = Date.now() + probeIntervalMs;
    },
  };
}

const probeIntervalMs = 3_600_000;

/**
 * The date of a `Retry-After` header: seconds from now or an HTTP date (RFC 9110, section 10.2.3). Null when it is
 * absent or neither.
 */
export function readRetryAfter(header: string | string[] | undefined): Date | null {
  if (header === undefined) return null;
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return new Date(Date.now() + Number(value) * 1_000);
  // Date.parse alone finds a date in almost anything, even in "-5".
  const at = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at);
}
