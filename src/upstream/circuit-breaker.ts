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
 * half-open circuit lets one probe through at a time.
 */
export function withCircuitBreaker(
  send: Send,
  { service, events, threshold = 0.5, windowSize = 20, minimumCalls = 10, probeAfterMs = 1_000 }: CircuitBreakerOptions,
): Send {
  const circuits = new Map<string, CircuitBreakerPolicy>();

  return async (request, deadline) => {
    const circuit = circuitOf(request.path);
    // Cockatiel would make all callers wait for the probe, possibly until its deadline.
    if (circuit.state === CircuitState.HalfOpen) return shed;
    try {
      return await circuit.execute(() => send(request, deadline));
    } catch (error) {
      if (error instanceof BrokenCircuitError) return shed;
      throw error;
    }
  };

  function circuitOf(path: string): CircuitBreakerPolicy {
    const known = circuits.get(path);
    if (known) return known;
    const isProbe = () => circuit.state === CircuitState.HalfOpen;
    const circuit: CircuitBreakerPolicy = circuitBreaker(
      // An aborted or unsent attempt does not count as a failure, except as a probe: it must not close the circuit.
      handleWhen(isProbe).orWhenResult((outcome) => isFailure(outcome as Outcome, isProbe())),
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

function isFailure(outcome: Outcome, isProbe: boolean): boolean {
  if (outcome.kind === 'answered') return outcome.status >= 500;
  if (outcome.kind === 'failed') return outcome.reason !== 'too-large';
  return isProbe;
}
