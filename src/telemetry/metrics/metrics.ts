import type { ServiceName } from '../../errors.ts';
import type { CircuitEvent, Events } from '../events.ts';
import { type FinishedReply, type FinishedRequest, methodLabel } from '../finished-request.ts';
import { circuitStates, type MetricName } from './definitions.ts';
import { Count, createCounts, createDurations, Histogram, type Sample, Series } from './series.ts';

/** Reads the values of a metric when it is scraped. */
type Collect = () => readonly Sample[] | Promise<readonly Sample[]>;

export type Collectors<Name extends MetricName> = Readonly<Record<Name, Collect>>;

export type Metrics = ReturnType<typeof createMetrics>;

/** Counts events as plain numbers; `createExposition` reads them when they are scraped. */
export function createMetrics() {
  const requests = createRequestMetrics();
  const upstreams = createUpstreamMetrics(requests);
  const events: Partial<Events> = { ...requests.events, ...upstreams.events };
  return { events, collectors: { ...requests.collectors, ...upstreams.collectors } };
}

type RequestEvents = Pick<Events, 'requestFinished' | 'connectionRefused' | 'storeFailed'>;

function createRequestMetrics() {
  const durations = createDurations('http_server_request_duration_seconds', alertedRequests);
  const overhead = new Histogram(overheadBounds);
  const requests = createCounts('ledgerquill_graphql_requests_total', 500);
  requests.of('query', 'other');
  const errors = createCounts('ledgerquill_graphql_errors_total');
  /** The upstream metrics add the operations that a budget refused. */
  const refusals = createCounts('ledgerquill_refusals_total');
  const lookUps = createCounts('ledgerquill_cache_look_ups_total');
  const [hits, stale, misses] = [lookUps.of('hit'), lookUps.of('stale'), lookUps.of('miss')];
  const keptReplies = new Count();
  const storeErrors = createCounts('ledgerquill_store_errors_total');
  /** Look-ups that the cache, and kept replies, have answered. */
  const [savedByCache, savedByReply] = [new Count(), new Count()];

  const events: RequestEvents = {
    requestFinished(request) {
      durations.of(methodLabel(request.method), request.route, request.status).observe(request.durationMs / 1_000);
      if (request.errorCodes.length > 0) countErrors(request);
      if (request.reply !== null) countReply(request, request.reply);
    },
    connectionRefused() {
      refusals.of('connections').value += 1;
    },
    storeFailed(failure) {
      storeErrors.of(failure).value += 1;
    },
  };
  const collectors = {
    http_server_request_duration_seconds: () => durations.collect(),
    ledgerquill_request_overhead_seconds: () => overhead.collect(),
    ledgerquill_graphql_requests_total: () => requests.collect(),
    ledgerquill_graphql_errors_total: () => errors.collect(),
    ledgerquill_refusals_total: () => refusals.collect(),
    ledgerquill_cache_look_ups_total: () => lookUps.collect(),
    ledgerquill_kept_replies_total: () => keptReplies.collect(),
    ledgerquill_store_errors_total: () => storeErrors.collect(),
  };
  return { events, collectors, refusals, savedByCache, savedByReply };

  function countReply(
    request: FinishedRequest,
    { operationType, operationName, isTrusted, usage, isKept }: FinishedReply,
  ) {
    if (request.route !== '/check') {
      overhead.observe(request.overheadMs / 1_000);
      requests.of(operationType ?? 'none', (isTrusted && operationName) || 'other').value += 1;
    }
    if (isKept) keptReplies.value += 1;
    if (usage === null) return;
    const fresh = Math.max(0, usage.cacheHits - usage.staleHits);
    hits.value += fresh;
    stale.value += usage.staleHits;
    misses.value += usage.lookUps - Math.max(usage.cacheHits, usage.staleHits);
    (isKept ? savedByReply : savedByCache).value += fresh;
  }

  function countErrors({ errorCodes, status, reply }: FinishedRequest): void {
    for (const code of errorCodes) {
      errors.of(code).value += 1;
      const limit = limitOfCode[code];
      if (limit !== undefined) refusals.of(limit).value += 1;
    }
    if (status === 413) refusals.of('body_size').value += 1;
    if (reply?.refusal) refusals.of(reply.refusal).value += 1;
  }
}

/** What LedgerquillRequestsFail compares. */
const alertedRequests = ['GET', 'POST'].flatMap((method) =>
  [200, 500, 503].map((status) => [method, '/graphql', status]),
);

const overheadBounds = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

const limitOfCode: Readonly<Record<string, string>> = {
  RATE_LIMITED: 'rate_limit',
  UNAUTHENTICATED: 'unauthenticated',
  FORBIDDEN: 'forbidden',
  QUERY_NOT_IN_SAFELIST: 'untrusted_document',
  OVERLOADED: 'overloaded',
};

type UpstreamEvents = Pick<
  Events,
  | 'upstreamCalled'
  | 'upstreamOperationEnded'
  | 'callPaid'
  | 'countRestored'
  | 'flightJoined'
  | 'essayOrdered'
  | CircuitEvent
>;

type SharedCounts = Pick<ReturnType<typeof createRequestMetrics>, 'refusals' | 'savedByCache' | 'savedByReply'>;

function createUpstreamMetrics({ refusals, savedByCache, savedByReply }: SharedCounts) {
  const durations = createDurations('http_client_request_duration_seconds', alertedCalls);
  const operations = createCounts('ledgerquill_upstream_operations_total');
  const attempts = createCounts('ledgerquill_upstream_attempts_total');
  const paid = createCounts('ledgerquill_paid_calls_total');
  const restoredCounts = createCounts('ledgerquill_restored_counts_total');
  const essays = createCounts('ledgerquill_essays_total');
  const joinedFlights = new Count();
  const circuits = new Series(['service', 'endpoint'], () => new Circuit());
  const transitions = createCounts('ledgerquill_circuit_breaker_transitions_total', 300);

  const addCircuit = (service: ServiceName, path: string) => {
    circuits.of(service, path);
    for (const state of circuitStates) transitions.of(service, path, state);
  };
  const changeCircuit = (service: ServiceName, path: string, state: CircuitState) => {
    circuits.of(service, path).state = state;
    transitions.of(service, path, state).value += 1;
  };

  const events: UpstreamEvents = {
    upstreamCalled({ service, method, path, outcome, durationMs }) {
      const isAnswered = outcome.kind === 'answered';
      const status = isAnswered ? outcome.status : '';
      const errorType = isAnswered ? (outcome.status >= 400 ? outcome.status : '') : outcome.reason;
      durations.of(service, method, status, errorType).observe(durationMs / 1_000);
      attempts.of(service, isAnswered && outcome.status < 500 ? 'answered' : 'failed').value += 1;
      addCircuit(service, path);
    },
    upstreamOperationEnded(service, outcome) {
      const isBudget = outcome === 'budget-exhausted';
      operations.of(service, isBudget ? 'exhausted' : outcome).value += 1;
      if (isBudget) refusals.of('budget').value += 1;
    },
    callPaid(service) {
      paid.of(service).value += 1;
    },
    countRestored(service) {
      restoredCounts.of(service).value += 1;
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
    http_client_request_duration_seconds: () => durations.collect(),
    ledgerquill_upstream_operations_total: () => operations.collect(),
    ledgerquill_upstream_attempts_total: () => attempts.collect(),
    ledgerquill_circuit_breaker_state: () => circuits.collect(),
    ledgerquill_circuit_breaker_transitions_total: () => transitions.collect(),
    ledgerquill_joined_flights_total: () => joinedFlights.collect(),
    ledgerquill_paid_calls_total: () => paid.collect(),
    ledgerquill_restored_counts_total: () => restoredCounts.collect(),
    ledgerquill_saved_calls_total: (): Sample[] => [
      { labels: { service: 'bank-data', by: 'cache' }, value: savedByCache.value },
      { labels: { service: 'bank-data', by: 'flight' }, value: joinedFlights.value },
      { labels: { service: 'bank-data', by: 'kept_reply' }, value: savedByReply.value },
      { labels: { service: 'essays', by: 'idempotency_key' }, value: essays.of('from_key').value },
    ],
    ledgerquill_essays_total: () => essays.collect(),
  };
  return { events, collectors };
}

/** What LedgerquillUpstreamSlow compares: answers and timeouts. */
const alertedCalls = [
  ['bank-data', 'GET', 200, ''],
  ['bank-data', 'GET', '', 'timed-out'],
];

type CircuitState = (typeof circuitStates)[number];

/** A circuit breaker as one sample per state: 1 for its own state, 0 for other states. */
class Circuit {
  state: CircuitState = 'closed';

  collect(): readonly Sample[] {
    return circuitStates.map((state) => ({ labels: { state }, value: state === this.state ? 1 : 0 }));
  }
}
