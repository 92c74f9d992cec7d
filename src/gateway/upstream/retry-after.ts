import type { Guard } from './attempt.ts';
import type { Outcome } from './outcome.ts';

/**
 * Does not call a path that answered 429 before its `Retry-After`. A date that is further away than an hour may be wrong, so one
 * call per hour probes the path.
 */
export function createRetryAfterBlock(): Guard {
  let retryAt: Date | null = null;
  /** In milliseconds since 1970. */
  let probeAt = 0;
  let isProbing = false;

  return {
    enter() {
      if (retryAt === null || Date.now() >= retryAt.getTime()) return recordCall;
      if (isProbing || Date.now() < probeAt) return { kind: 'blocked', retryAt };
      isProbing = true;
      return recordProbe;
    },
  };

  function recordCall(outcome: Outcome): void {
    if (outcome.kind === 'answered' && outcome.status === 429 && outcome.retryAt !== null) block(outcome.retryAt);
  }

  /** Only the probe ends the block: other calls were sent before it began. */
  function recordProbe(outcome: Outcome): void {
    isProbing = false;
    if (outcome.kind !== 'answered') return;
    const newRetryAt = outcome.status === 429 ? (outcome.retryAt ?? retryAt) : null;
    if (newRetryAt === null) retryAt = null;
    else block(newRetryAt);
  }

  function block(until: Date): void {
    retryAt = until;
    probeAt = Date.now() + probeIntervalMs;
  }
}

export const probeIntervalMs = 3_600_000;

/**
 * The date of a `Retry-After` header: seconds from now or an HTTP date (RFC 9110, section 10.2.3). Null when it is
 * absent or neither. At most 31 days from now, as allowances are monthly: a date further away is wrong.
 */
export function readRetryAfter(header: string | string[] | undefined): Date | null {
  if (header === undefined) return null;
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  const now = Date.now();
  // Date.parse alone finds a date in almost anything, even in "-5".
  const date = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  const at = /^\d+$/.test(value) ? now + Number(value) * 1_000 : date;
  return Number.isNaN(at) ? null : new Date(Math.min(Math.max(now, at), now + maxWaitMs));
}

const maxWaitMs = 31 * 86_400_000;
