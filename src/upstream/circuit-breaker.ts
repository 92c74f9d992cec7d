import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  CountBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import type { ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import { readRetryAfter } from './retry-after.ts';
import type { RestAnswer, RestClient, RestFailure, RestOutcome } from './upstream-client.ts';

interface BreakerOptions {
  service: ServiceName;
  events: Events;
  /** Opens when this share of the last calls failed, from 0 to 1. */
  threshold?: number;
  /** How many of the last calls are counted. */
  window?: number;
  /** How many calls there must have been; retries count, so that one bad question in a quiet hour must not suffice. */
  minimumCalls?: number;
  /** How long an open breaker waits before it lets a probe through, in milliseconds. */
  probeAfterMs?: number;
}

/**
 * Stops calling what keeps failing, route by route: 5xx, timeouts and broken connections count, refusals (4xx) do not.
 * An open breaker lets one probe through at a time. An upstream that says with 429 when to come again is not called
 * before, whatever the breaker says.
 */
export function withCircuitBreaker(
  client: RestClient,
  { service, events, threshold = 0.5, window = 20, minimumCalls = 10, probeAfterMs = 1_000 }: BreakerOptions,
): RestClient {
  const routes = new Map<string, Route>();

  return {
    ...client,
    async send(request, caller, withinMs) {
      const route = routeOf(request.path);
      const pause = route.pause;
      if (pause && Date.now() < pause.until) return pause.answer;
      // Cockatiel would have all callers wait for the probe; it may take as long as the deadline.
      if (route.breaker.state === CircuitState.HalfOpen) return shed;
      const attempt = await route.breaker
        .execute(() => client.send(request, caller, withinMs).then(arrived, gaveUp(route.breaker)))
        .catch((error: unknown) => {
          if (error instanceof BrokenCircuitError) return arrived(shed);
          throw error;
        });
      if ('error' in attempt) throw attempt.error;
      notePause(route, attempt.outcome);
      return attempt.outcome;
    },
  };

  function routeOf(path: string): Route {
    const known = routes.get(path);
    if (known) return known;
    const route: Route = {
      breaker: circuitBreaker(
        handleWhenResult((attempt) => isFailed(attempt as Attempt, route.breaker.state)),
        {
          halfOpenAfter: probeAfterMs,
          breaker: new CountBreaker({ threshold, size: window, minimumNumberOfCalls: minimumCalls }),
        },
      ),
      pause: null,
    };
    route.breaker.onBreak(() => events.circuitOpened(service, path));
    route.breaker.onReset(() => events.circuitClosed(service, path));
    routes.set(path, route);
    return route;
  }
}

interface Route {
  breaker: CircuitBreakerPolicy;
  /** What the upstream answered when it said until when not to be called. */
  pause: { until: number; answer: RestAnswer } | null;
}

/** Whether it came to an outcome, or the caller gave up before. */
type Attempt = { outcome: RestOutcome } | { error: unknown };

const arrived = (outcome: RestOutcome): Attempt => ({ outcome });
/** Says nothing of the upstream, so nothing is counted; but a probe that found nothing out must not close the breaker. */
const gaveUp =
  (breaker: CircuitBreakerPolicy) =>
  (error: unknown): Attempt => {
    if (breaker.state !== CircuitState.HalfOpen) throw error;
    return { error };
  };
const shed: RestFailure = { kind: 'failure', reason: 'shed', text: '' };

/** An answer in the upstream's stead says nothing of it either. */
function isFailed(attempt: Attempt, state: CircuitState): boolean {
  if ('error' in attempt) return state === CircuitState.HalfOpen;
  const { outcome } = attempt;
  if (outcome.kind === 'answer' && outcome.isOurs) return state === CircuitState.HalfOpen;
  return outcome.kind === 'failure' ? outcome.reason !== 'too-large' : outcome.status >= 500;
}

function notePause(route: Route, outcome: RestOutcome): void {
  if (outcome.kind !== 'answer' || outcome.status !== 429 || outcome.isOurs) return;
  const until = readRetryAfter(outcome.headers['retry-after'], new Date());
  if (until === null) return;
  // An absolute date stays right however much later the answer is given again.
  const headers = { ...outcome.headers, 'retry-after': until.toUTCString() };
  route.pause = { until: until.getTime(), answer: { ...outcome, headers } };
}
