import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  CountBreaker,
  circuitBreaker,
  handleWhen,
} from 'cockatiel';
import type { ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import { type Outcome, type Send, shed } from './operation.ts';

interface CircuitBreakerOptions {
  service: ServiceName;
  events: Pick<Events, 'circuitOpened' | 'circuitClosed'>;
  /** The circuit opens when this share of the last `windowSize` calls failed, from 0 to 1. */
  threshold?: number;
  windowSize?: number;
  /** Minimum number of calls before it can open: more than one operation makes, so that one failure is not enough. */
  minimumCalls?: number;
  /** How long an open circuit waits before a probe. */
  probeAfterMs?: number;
}

/**
 * Stops calling a path that keeps failing: 5xx, timeouts and broken connections count, rejections (4xx) do not. A
 * half-open circuit lets one probe through at a time. A path that answered 429 is not called before its `Retry-After`.
 */
export function withCircuitBreaker(
  send: Send,
  { service, events, threshold = 0.5, windowSize = 20, minimumCalls = 10, probeAfterMs = 1_000 }: CircuitBreakerOptions,
): Send {
  const circuits = new Map<string, CircuitBreakerPolicy>();
  const blockedUntil = new Map<string, Date>();

  return async (request, deadline) => {
    const { path } = request;
    const renewsAt = blockedUntil.get(path);
    if (renewsAt && Date.now() < renewsAt.getTime()) return { kind: 'exhausted', renewsAt };
    const circuit = circuitOf(path);
    // Cockatiel would make all callers wait for the probe, possibly until its deadline.
    if (circuit.state === CircuitState.HalfOpen) return shed;
    let outcome = shed as Outcome;
    try {
      await circuit.execute(async () => {
        outcome = await send(request, deadline);
        if (outcome.kind === 'shed' || outcome.kind === 'exhausted') throw notSent;
        return outcome;
      });
    } catch (error) {
      if (error !== notSent && !(error instanceof BrokenCircuitError)) throw error;
    }
    if (outcome.kind === 'answered' && outcome.status === 429 && outcome.retryAt) {
      blockedUntil.set(path, outcome.retryAt);
    }
    return outcome;
  };

  function circuitOf(path: string): CircuitBreakerPolicy {
    const known = circuits.get(path);
    if (known) return known;
    const circuit: CircuitBreakerPolicy = circuitBreaker(
      // An aborted or unsent attempt is neither a success nor a failure. As a probe it is a failure, so that it does not
      // close the circuit.
      handleWhen(() => circuit.state === CircuitState.HalfOpen).orWhenResult((outcome) =>
        isFailure(outcome as Outcome),
      ),
      {
        halfOpenAfter: probeAfterMs,
        breaker: new CountBreaker({ threshold, size: windowSize, minimumNumberOfCalls: minimumCalls }),
      },
    );
    circuit.onBreak(() => events.circuitOpened(service, path));
    circuit.onReset(() => events.circuitClosed(service, path));
    circuits.set(path, circuit);
    return circuit;
  }
}

function isFailure(outcome: Outcome): boolean {
  if (outcome.kind === 'answered') return outcome.status >= 500;
  return outcome.kind === 'failed' && outcome.reason !== 'too-large';
}

/** Passes through cockatiel without being counted. */
const notSent = new Error('not sent');
