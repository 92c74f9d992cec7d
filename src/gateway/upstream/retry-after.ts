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
