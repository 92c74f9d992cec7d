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
}

/**
 * Stops calling a path that keeps failing: 5xx, timeouts and broken connections count, rejections (4xx) do not. A
 * half-open circuit lets one probe through at a time.
 */
export function withCircuitBreaker(send: Send, { service, events }: CircuitBreakerOptions): Send {
  const circuits = new Map<string, CircuitBreakerPolicy>();

  return async (request, deadline) => {
    const circuit = circuitOf(request.path);
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
        breaker: new CountBreaker({
          threshold: failureThreshold,
          size: windowSize,
          minimumNumberOfCalls: minimumCalls,
        }),
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

/** A circuit opens when half of its last 20 calls failed. It needs 10 calls, more than one operation makes. */
const failureThreshold = 0.5;
const windowSize = 20;
const minimumCalls = 10;
/** How long an open circuit waits before a probe. */
const probeAfterMs = 1_000;

/** Passes through cockatiel without being counted. */
const notSent = new Error('not sent');
