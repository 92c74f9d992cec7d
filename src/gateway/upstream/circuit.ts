import type { CircuitState } from '../telemetry/events.ts';
import { type FailureReason, isUpstreamFailure, type Outcome, shed } from './outcome.ts';

/** Lets a call pass; it tests whether the circuit can be closed, or whether the service may be called again. */
interface Passed {
  kind: 'passed';
  testsCircuit: boolean;
  testsBlock: boolean;
}

const passed: Passed = { kind: 'passed', testsCircuit: false, testsBlock: false };

/**
 * Whether a path of a service may be called: an endpoint that fails does not stop the others.
 *
 * A path that answered 429 is not called before its `Retry-After`. A date that is further away than an hour may be wrong, so one call
 * per hour tests the path. A blocked call is neither a success nor a failure of the circuit.
 *
 * A path that keeps failing is not called, either: 5xx, unreadable answers, timeouts and broken connections count, rejections (4xx) do
 * not. A call that was abandoned or not sent counts neither way. A half-open circuit lets one call through at a time; one that was
 * not sent does not close it.
 */
export class Circuit {
  readonly #onChanged: (state: CircuitState) => void;
  #state: CircuitState = 'closed';
  #openedAt = 0;
  /** The latest calls of a closed circuit, each 1 if it failed; a ring. */
  readonly #latest = new Uint8Array(windowSize);
  #calls = 0;
  #failures = 0;
  #retryAt: Date | null = null;
  /** In milliseconds since 1970. */
  #probeAt = 0;
  #isProbing = false;

  constructor(onChanged: (state: CircuitState) => void) {
    this.#onChanged = onChanged;
  }

  /** Whether a call may be sent, which is then to be recorded once; or why not. */
  enter(): Passed | Outcome {
    const testsBlock = this.#retryAt !== null && Date.now() < this.#retryAt.getTime();
    if (testsBlock && this.#retryAt !== null && (this.#isProbing || Date.now() < this.#probeAt))
      return { kind: 'blocked', retryAt: this.#retryAt };
    if (this.#state === 'half_open') return shed;
    const testsCircuit = this.#state === 'open';
    if (testsCircuit && Date.now() - this.#openedAt < probeAfterMs) return shed;
    if (testsCircuit) this.#change('half_open');
    if (testsBlock) this.#isProbing = true;
    return testsCircuit || testsBlock ? { kind: 'passed', testsCircuit, testsBlock } : passed;
  }

  /** @param outcome `shed` if the call was not sent */
  record({ testsCircuit, testsBlock }: Passed, outcome: Outcome): void {
    const isFailure = hasFailed(outcome);
    if (testsCircuit) {
      if (isFailure === false) this.#close();
      else this.#open();
    } else if (isFailure !== null && this.#state === 'closed' && this.#add(isFailure)) this.#open();
    if (testsBlock) this.#isProbing = false;
    if (outcome.kind !== 'answered') return;
    const retryAt = outcome.status === 429 ? (outcome.retryAt ?? (testsBlock ? this.#retryAt : null)) : null;
    if (retryAt !== null) {
      this.#retryAt = retryAt;
      this.#probeAt = Date.now() + probeIntervalMs;
      // Only the call that tests it ends the block: other calls were sent before it began.
    } else if (testsBlock) this.#retryAt = null;
  }

  /** @returns whether this failure opens the circuit */
  #add(isFailure: boolean): boolean {
    const place = this.#calls % windowSize;
    this.#failures += (isFailure ? 1 : 0) - (this.#latest[place] ?? 0);
    this.#latest[place] = isFailure ? 1 : 0;
    this.#calls += 1;
    const size = Math.min(this.#calls, windowSize);
    return isFailure && size >= minimumCalls && this.#failures > failureThreshold * size;
  }

  #open(): void {
    this.#openedAt = Date.now();
    this.#change('open');
  }

  #close(): void {
    this.#latest.fill(0);
    this.#calls = 0;
    this.#failures = 0;
    this.#change('closed');
  }

  #change(state: CircuitState): void {
    this.#state = state;
    this.#onChanged(state);
  }
}

/** Whether a call counts as a failure of its path; null if it was abandoned or not sent. */
function hasFailed(outcome: Outcome): boolean | null {
  if (outcome.kind !== 'answered' && outcome.kind !== 'failed') return null;
  return isUpstreamFailure(outcome) && !(outcome.kind === 'failed' && dependsOnInput.has(outcome.reason));
}

/** Failures that one bad input can cause every time; they must not open the circuit. */
const dependsOnInput: ReadonlySet<FailureReason> = new Set(['too-large', 'mismatched']);

/** A circuit opens when more than half of its last 20 calls failed. It needs 10 calls, more than one operation makes. */
const failureThreshold = 0.5;
const windowSize = 20;
const minimumCalls = 10;
/** How long an open circuit waits before a call tests it. */
const probeAfterMs = 1_000;
export const probeIntervalMs = 3_600_000;
