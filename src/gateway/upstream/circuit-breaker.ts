import type { CircuitEvent } from '../telemetry/events.ts';
import type { Guard } from './attempt.ts';
import { type FailureReason, type Outcome, shed } from './outcome.ts';

/**
 * Stops calling a path that keeps failing: 5xx, timeouts and broken connections count, rejections (4xx) do not. An
 * attempt that was aborted or not sent counts neither way. A half-open circuit lets one probe through at a time; one
 * that was not sent does not close it.
 */
export function createCircuitBreaker(onChanged: (event: CircuitEvent) => void): Guard {
  let state: 'closed' | 'open' | 'half-open' = 'closed';
  let openedAt = 0;
  const failures = createFailureWindow();

  return {
    enter() {
      if (state === 'half-open' || (state === 'open' && Date.now() - openedAt < probeAfterMs)) return shed;
      if (state === 'closed') return recordCall;
      state = 'half-open';
      onChanged('circuitHalfOpened');
      return recordProbe;
    },
  };

  function recordCall(outcome: Outcome): void {
    if (isSent(outcome) && state === 'closed' && failures.add(isFailed(outcome))) open();
  }

  function recordProbe(outcome: Outcome): void {
    if (isSent(outcome) && !isFailed(outcome)) close();
    else open();
  }

  function open(): void {
    state = 'open';
    openedAt = Date.now();
    onChanged('circuitOpened');
  }

  function close(): void {
    state = 'closed';
    failures.clear();
    onChanged('circuitClosed');
  }
}

function isSent({ kind }: Outcome): boolean {
  return kind === 'answered' || kind === 'failed';
}

/** Whether the upstream failed: no complete response, or 5xx. A rejection (4xx) is not a failure. */
export function isUpstreamFailure(outcome: Outcome): boolean {
  return outcome.kind === 'answered' ? outcome.status >= 500 : outcome.kind === 'failed';
}

function isFailed(outcome: Outcome): boolean {
  return isUpstreamFailure(outcome) && !(outcome.kind === 'failed' && dependsOnInput.has(outcome.reason));
}

/** Failures that one bad input can cause every time; they must not open the circuit. */
const dependsOnInput: ReadonlySet<FailureReason> = new Set(['too-large', 'mismatched']);

/** The latest calls of a closed circuit. */
function createFailureWindow() {
  const latest = new Uint8Array(windowSize);
  let calls = 0;
  let failed = 0;
  return {
    /** @returns whether this failure opens the circuit */
    add(isFailed: boolean): boolean {
      const index = calls % windowSize;
      const sample = isFailed ? 1 : 0;
      failed += sample - (latest[index] ?? 0);
      latest[index] = sample;
      calls += 1;
      return isFailed && calls >= minimumCalls && failed > failureThreshold * Math.min(calls, windowSize);
    },
    clear(): void {
      latest.fill(0);
      calls = 0;
      failed = 0;
    },
  };
}

/** A circuit opens when more than half of its last 20 calls failed. It needs 10 calls, more than one operation makes. */
const failureThreshold = 0.5;
const windowSize = 20;
const minimumCalls = 10;
/** How long an open circuit waits before a probe. */
const probeAfterMs = 1_000;
