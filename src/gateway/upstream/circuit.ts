import type { CircuitOutage, CircuitState } from '../telemetry/events.ts';
import { type FailureReason, isUpstreamFailure, type Outcome, refusalOf, shed } from './outcome.ts';

/** Lets a call pass; `probed`: it tests whether this circuit can be closed. */
interface Passed {
  kind: 'passed';
  probed: OpenCircuit | null;
}

/** Why a path is not called. */
interface OpenCircuit extends CircuitOutage {
  /** When the service may be called again, as it says. */
  retryAt: Date | null;
  /** When it is probed next, by `performance.now()`. */
  probeAt: number;
  isProbing: boolean;
}

const passed: Passed = { kind: 'passed', probed: null };

/**
 * Whether a path of a service may be called: an endpoint that fails, or that a plan does not have, does not stop the others.
 *
 * A path that keeps failing or refusing calls is not called: 5xx, unreadable answers, timeouts and broken connections count, and answers
 * that reject the key or say that the allowance is exhausted; other rejections (4xx) do not. One call at a time then probes it, less and
 * less often. A call that was abandoned or not sent counts neither way.
 *
 * A path that answered 429 is not called before its `Retry-After`. A date that is further away than an hour may be wrong, or more calls
 * may be bought before: one call a minute probes the path.
 */
export class Circuit {
  readonly #onChanged: (state: CircuitState, outage: CircuitOutage | null) => void;
  #open: OpenCircuit | null = null;
  /** The latest calls of a closed circuit, each 1 if it failed; a ring. */
  readonly #latest = new Uint8Array(windowSize);
  #calls = 0;
  #failures = 0;
  #reported: CircuitState = 'closed';

  constructor(onChanged: (state: CircuitState, outage: CircuitOutage | null) => void) {
    this.#onChanged = onChanged;
  }

  /** Whether a call may be sent, which is then to be recorded once; or why not. */
  enter(): Passed | Outcome {
    const open = this.#open;
    if (open === null) return passed;
    const { cause, retryAt } = open;
    if (retryAt !== null && Date.now() >= retryAt.getTime()) {
      this.close();
      return passed;
    }
    if (open.isProbing || performance.now() < open.probeAt)
      return cause === 'failure' ? shed : { kind: 'blocked', cause, retryAt };
    open.isProbing = true;
    if (retryAt === null) this.#report('half_open');
    return { kind: 'passed', probed: open };
  }

  /** @param outcome `shed` if the call was not sent */
  record({ probed }: Passed, outcome: Outcome): void {
    const cause = causeOf(outcome);
    const retryAt = outcome.kind === 'answered' && outcome.status === 429 ? outcome.retryAt : null;
    if (probed !== null && probed === this.#open) {
      const probes = probed.probes + (cause === undefined ? 0 : 1);
      if (cause === null) this.close();
      else this.#keepOpen({ cause: cause ?? probed.cause, retryAt: retryAt ?? probed.retryAt, probes });
    } else if (retryAt !== null) this.#keepOpen({ cause: 'allowance', retryAt, probes: 0 });
    else if (this.#open === null && cause !== undefined) {
      this.#add(cause !== null);
      if (cause !== null && this.#keepsFailing()) this.#keepOpen({ cause, retryAt, probes: 0 });
    }
  }

  /** All calls pass. */
  close(): void {
    this.#open = null;
    this.#latest.fill(0);
    this.#calls = 0;
    this.#failures = 0;
    if (this.#reported !== 'closed') this.#report('closed');
  }

  #add(isFailure: boolean): void {
    const place = this.#calls % windowSize;
    this.#failures += (isFailure ? 1 : 0) - (this.#latest[place] ?? 0);
    this.#latest[place] = isFailure ? 1 : 0;
    this.#calls += 1;
  }

  #keepsFailing(): boolean {
    const size = Math.min(this.#calls, windowSize);
    return size >= minimumCalls && this.#failures > failureThreshold * size;
  }

  #keepOpen(why: Pick<OpenCircuit, 'cause' | 'retryAt' | 'probes'>): void {
    const { retryAt, probes } = why;
    const backoffMs = retryAt === null ? firstProbeMs * 2 ** probes : probeEveryMs;
    const isProbed = retryAt === null || isProbedBefore(retryAt);
    const pauseMs = isProbed ? Math.min(backoffMs, probeEveryMs) : Number.POSITIVE_INFINITY;
    this.#open = { probeAt: performance.now() + pauseMs, isProbing: false, ...why };
    // The service works: it only asks to wait.
    if (retryAt === null) this.#report('open');
  }

  #report(state: CircuitState): void {
    this.#reported = state;
    this.#onChanged(state, this.#open);
  }
}

/** Why a call counts against its path; null: the path works; undefined: the call was abandoned or not sent. */
function causeOf(outcome: Outcome): OpenCircuit['cause'] | null | undefined {
  if (outcome.kind === 'answered') return refusalOf(outcome) ?? (isUpstreamFailure(outcome) ? 'failure' : null);
  if (outcome.kind === 'failed') return dependsOnInput.has(outcome.reason) ? null : 'failure';
  return undefined;
}

/** Whether a path is probed before the date of its `Retry-After`. */
export function isProbedBefore(retryAt: Date): boolean {
  return retryAt.getTime() - Date.now() > believedMs;
}

/** Failures that one bad input can cause every time; they must not open the circuit. */
const dependsOnInput: ReadonlySet<FailureReason> = new Set(['too-large', 'mismatched']);

/** A circuit opens when more than half of its last 20 calls failed. It needs 10 calls, more than one operation makes. */
const failureThreshold = 0.5;
const windowSize = 20;
const minimumCalls = 10;
/** An open circuit waits before a call probes it: this long at first, and twice as long after each probe that fails. */
const firstProbeMs = 1_000;
/** At most this long. */
const probeEveryMs = 60_000;
const believedMs = 3_600_000;
