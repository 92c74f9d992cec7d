import type { CircuitState } from '../telemetry/events.ts';
import { type FailureReason, type Outcome, shed } from './outcome.ts';

/** Lets attempts pass, or refuses them. */
export interface Guard {
  /** The function that records the outcome of the attempt, to be called once; or why the attempt may not be sent. */
  enter(): RecordOutcome | Outcome;
}

/** @param outcome `shed` if the attempt was aborted or not sent */
export type RecordOutcome = (outcome: Outcome) => void;

/** Both guards must let an attempt pass, the outer one first, and both record its outcome. */
export function guardWithin(outer: Guard, inner: Guard): Guard {
  return {
    enter() {
      const recordOuter = outer.enter();
      if (typeof recordOuter !== 'function') return recordOuter;
      const recordInner = inner.enter();
      if (typeof recordInner !== 'function') {
        recordOuter(shed);
        return recordInner;
      }
      return (outcome) => {
        recordInner(outcome);
        recordOuter(outcome);
      };
    },
  };
}

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
 * Stops calling a path that keeps failing: 5xx, unreadable answers, timeouts and broken connections count, rejections (4xx) do not. An
 * attempt that was aborted or not sent counts neither way. A half-open circuit lets one probe through at a time; one
 * that was not sent does not close it.
 */
export function createCircuitBreaker(onChanged: (state: CircuitState) => void): Guard {
  let state: CircuitState = 'closed';
  let openedAt = 0;
  const failures = createFailureWindow();

  return {
    enter() {
      if (state === 'half_open' || (state === 'open' && Date.now() - openedAt < probeAfterMs)) return shed;
      if (state === 'closed') return recordCall;
      change('half_open');
      return recordProbe;
    },
  };

  function recordCall(outcome: Outcome): void {
    const isFailure = hasFailed(outcome);
    if (isFailure !== null && state === 'closed' && failures.add(isFailure)) open();
  }

  function recordProbe(outcome: Outcome): void {
    if (hasFailed(outcome) === false) close();
    else open();
  }

  function open(): void {
    openedAt = Date.now();
    change('open');
  }

  function close(): void {
    failures.clear();
    change('closed');
  }

  function change(next: CircuitState): void {
    state = next;
    onChanged(next);
  }
}

/** Whether the upstream failed: no complete response, one that cannot be read, or 5xx. A rejection (4xx) is not a failure. */
export function isUpstreamFailure(outcome: Outcome): boolean {
  return outcome.kind === 'answered'
    ? outcome.status >= 500 || outcome.fault === 'unreadable'
    : outcome.kind === 'failed';
}

/** Whether an attempt counts as a failure of its path; null if it was aborted or not sent. */
function hasFailed(outcome: Outcome): boolean | null {
  if (outcome.kind !== 'answered' && outcome.kind !== 'failed') return null;
  return isUpstreamFailure(outcome) && !(outcome.kind === 'failed' && dependsOnInput.has(outcome.reason));
}

/** Failures that one bad input can cause every time; they must not open the circuit. */
const dependsOnInput: ReadonlySet<FailureReason> = new Set(['too-large', 'mismatched']);

/** The latest calls of a closed circuit. */
function createFailureWindow() {
  let latest: boolean[] = [];
  return {
    /** @returns whether this failure opens the circuit */
    add(isFailed: boolean): boolean {
      latest = [...latest.slice(1 - windowSize), isFailed];
      const failed = latest.filter(Boolean).length;
      return isFailed && latest.length >= minimumCalls && failed > failureThreshold * latest.length;
    },
    clear(): void {
      latest = [];
    },
  };
}

/** A circuit opens when more than half of its last 20 calls failed. It needs 10 calls, more than one operation makes. */
const failureThreshold = 0.5;
const windowSize = 20;
const minimumCalls = 10;
/** How long an open circuit waits before a probe. */
const probeAfterMs = 1_000;
