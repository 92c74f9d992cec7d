import { type ServiceName, serviceNames } from '../../errors.ts';
import type { CircuitEvent, Events } from '../events.ts';
import { circuitStates, essayOutcomes, operationOutcomes } from './definitions.ts';
import { createHistograms, durationBounds } from './histogram.ts';
import type { Sample } from './sample.ts';
import { Count, createCounts, Series } from './series.ts';

type UpstreamEvents = Pick<
  Events,
  'upstreamCalled' | 'upstreamOperationEnded' | 'callPaid' | 'flightJoined' | 'essayOrdered' | CircuitEvent
>;

interface UpstreamMetricsOptions {
  refusals: { of(limit: string): Count };
  /** Look-ups that the cache, and kept replies, have answered. */
  savedByCache: Count;
  savedByReply: Count;
}

export function createUpstreamMetrics({ refusals, savedByCache, savedByReply }: UpstreamMetricsOptions) {
  const durations = createHistograms(
    ['service', 'http_request_method', 'http_response_status_code', 'error_type'],
    durationBounds,
    200,
  );
  const operations = createCounts(['service', 'outcome'], combine(serviceNames, operationOutcomes));
  const attempts = createCounts(['service', 'outcome'], combine(serviceNames, ['answered', 'failed']));
  const paid = createCounts(
    ['service'],
    serviceNames.map((service) => [service]),
  );
  const essays = createCounts(
    ['outcome'],
    essayOutcomes.map((outcome) => [outcome]),
  );
  const joinedFlights = new Count();
  const circuits = new Series(['service', 'endpoint'], () => ({ state: 'closed' as CircuitState }));
  const transitions = createCounts(['service', 'endpoint', 'state'], [], 300);

  const changeCircuit = (service: ServiceName, path: string, state: CircuitState) => {
    circuits.of(service, path).state = state;
    transitions.of(service, path, state).value += 1;
  };

  const events: UpstreamEvents = {
    upstreamCalled({ service, method, path, outcome, durationMs }) {
      const isAnswered = outcome.kind === 'answered';
      const status = isAnswered ? outcome.status : '';
      const errorType = isAnswered ? (outcome.status >= 400 ? outcome.status : '') : outcome.reason;
      durations.series.of(service, method, status, errorType).observe(durationMs / 1_000);
      attempts.of(service, isAnswered && outcome.status < 500 ? 'answered' : 'failed').value += 1;
      circuits.of(service, path);
    },
    upstreamOperationEnded(service, outcome) {
      const isBudget = outcome === 'budget-exhausted';
      operations.of(service, isBudget ? 'exhausted' : outcome).value += 1;
      if (isBudget) refusals.of('budget').value += 1;
    },
    callPaid(service) {
      paid.of(service).value += 1;
    },
    flightJoined() {
      joinedFlights.value += 1;
    },
    essayOrdered(outcome) {
      essays.of(outcome).value += 1;
    },
    circuitOpened: (service, path) => changeCircuit(service, path, 'open'),
    circuitHalfOpened: (service, path) => changeCircuit(service, path, 'half_open'),
    circuitClosed: (service, path) => changeCircuit(service, path, 'closed'),
  };

  const collectors = {
    http_client_request_duration_seconds: durations.collect,
    ledgerquill_upstream_operations_total: operations.collect,
    ledgerquill_upstream_attempts_total: attempts.collect,
    ledgerquill_circuit_breaker_state: () =>
      circuits.collect(({ state }) =>
        circuitStates.map((one) => ({ labels: { state: one }, value: one === state ? 1 : 0 })),
      ),
    ledgerquill_circuit_breaker_transitions_total: transitions.collect,
    ledgerquill_joined_flights_total: () => [joinedFlights],
    ledgerquill_paid_calls_total: paid.collect,
    ledgerquill_saved_calls_total: (): Sample[] => [
      { labels: { service: 'bank-data', by: 'cache' }, value: savedByCache.value },
      { labels: { service: 'bank-data', by: 'flight' }, value: joinedFlights.value },
      { labels: { service: 'bank-data', by: 'kept_reply' }, value: savedByReply.value },
      { labels: { service: 'essays', by: 'idempotency_key' }, value: essays.of('from_key').value },
    ],
    ledgerquill_essays_total: essays.collect,
  };
  return { events, collectors };
}

type CircuitState = (typeof circuitStates)[number];

function combine(first: readonly string[], second: readonly string[]): string[][] {
  return first.flatMap((a) => second.map((b) => [a, b]));
}
