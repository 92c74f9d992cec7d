import { type ServiceName, serviceNames } from '../../../base/errors.ts';
import { noPrices, type Prices } from '../../../base/money.ts';
import {
  type CircuitState,
  circuitStates,
  configuredFiles,
  type Events,
  type FinishedReply,
  type FinishedRequest,
  methodLabel,
} from '../events.ts';
import { Count, Registry, type Sample, Series } from './series.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Counts events as plain numbers; `createExposition` reads them when they are scraped. */
export function createMetrics(prices: Prices = noPrices) {
  const counted = new Registry();
  const refusals = counted.counts('ledgerquill_refusals_total');
  const saved = counted.add('ledgerquill_saved_calls_total', new Series(['service', 'by'], () => new Count()));
  const shared = { counted, refusals, saved };
  const events: Partial<Events> = { ...countRequests(shared), ...countUpstreams(shared, prices), ...showFiles(shared) };
  return { events, counted };
}

interface SharedMetrics {
  counted: Registry;
  /** Requests, connections and operations, by the limit that refused them. */
  refusals: Series<Count>;
  /** Look-ups and orders without a call, by service and why. */
  saved: Series<Count>;
}

function countRequests({ counted, refusals, saved }: SharedMetrics) {
  const durations = counted.durations('http_server_request_duration_seconds', alertedRequests);
  const overhead = counted.durations('ledgerquill_request_overhead_seconds', [], overheadBounds).of();
  const requests = counted.counts('ledgerquill_graphql_requests_total', 500);
  requests.of('query', 'other');
  const errors = counted.counts('ledgerquill_graphql_errors_total');
  const lookUps = counted.counts('ledgerquill_cache_look_ups_total');
  const [hits, stale, misses] = [lookUps.of('hit'), lookUps.of('stale'), lookUps.of('miss')];
  const keptReplies = counted.counts('ledgerquill_kept_replies_total').of();
  const storeErrors = counted.counts('ledgerquill_store_errors_total');
  const clockSteps = counted.counts('ledgerquill_clock_steps_total').of();
  const [savedByCache, savedByReply] = [saved.of('bank-data', 'cache'), saved.of('bank-data', 'kept_reply')];

  return {
    requestFinished(request) {
      durations.of(methodLabel(request.method), request.route, request.status).observe(request.durationMs / 1_000);
      if (request.errorCodes.length > 0) countErrors(request);
      if (request.reply !== null) countReply(request, request.reply);
    },
    connectionRefused() {
      refusals.of('connections').value += 1;
    },
    clockStepped() {
      clockSteps.value += 1;
    },
    storeFailed(failure) {
      storeErrors.of(failure).value += 1;
    },
  } satisfies Partial<Events>;

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

function countUpstreams({ counted, refusals, saved }: SharedMetrics, prices: Prices) {
  const durations = counted.durations('http_client_request_duration_seconds', alertedCalls);
  const operations = counted.counts('ledgerquill_upstream_operations_total');
  const attempts = counted.counts('ledgerquill_upstream_attempts_total');
  const unreachable = counted.counts('ledgerquill_unreachable_calls_total', 100);
  const paid = counted.counts('ledgerquill_paid_calls_total', maxPaidSeries);
  const spent = counted.counts('ledgerquill_paid_millionths_total', maxPaidSeries);
  // From 0, so that the first call is seen as an increase.
  for (const service of serviceNames) {
    unreachable.of(service, 'ECONNREFUSED');
    for (const caller of ['anonymous', 'other']) pay(service, caller, 0);
  }
  const restoredCounts = counted.counts('ledgerquill_restored_counts_total');
  const essays = counted.counts('ledgerquill_essays_total');
  const joinedFlights = counted.counts('ledgerquill_joined_flights_total').of();
  const [savedByFlight, savedByKey] = [saved.of('bank-data', 'flight'), saved.of('essays', 'idempotency_key')];
  const circuits = new Series(['service', 'endpoint'], () => new Circuit());
  counted.add('ledgerquill_circuit_breaker_state', circuits);
  const transitions = counted.counts('ledgerquill_circuit_breaker_transitions_total', 300);

  return {
    callEnded({ service, method, path, origin: { caller } }, { outcome, isSent, durationMs }) {
      if (isSent) pay(service, caller.startsWith('jwt:') ? 'other' : caller, 1);
      if (outcome === null) return;
      const isAnswered = outcome.kind === 'answered';
      const status = isAnswered ? outcome.status : '';
      const errorType = isAnswered ? (outcome.fault ?? (outcome.status >= 400 ? outcome.status : '')) : outcome.reason;
      if (!isAnswered && outcome.reason === 'unreachable') unreachable.of(service, outcome.code ?? 'other').value += 1;
      durations.of(service, method, status, errorType).observe(durationMs / 1_000);
      attempts.of(
        service,
        isAnswered && outcome.status < 500 && outcome.fault !== 'unreadable' ? 'answered' : 'failed',
      ).value += 1;
      circuits.of(service, path);
      for (const state of circuitStates) transitions.of(service, path, state);
    },
    upstreamOperationEnded(service, outcome) {
      const isBudget = outcome === 'budget-exhausted';
      operations.of(service, isBudget ? 'exhausted' : outcome).value += 1;
      if (isBudget) refusals.of('budget').value += 1;
    },
    countRestored(service) {
      restoredCounts.of(service).value += 1;
    },
    flightJoined() {
      joinedFlights.value += 1;
      savedByFlight.value += 1;
    },
    essayOrdered(outcome) {
      essays.of(outcome).value += 1;
      if (outcome === 'from_key') savedByKey.value += 1;
    },
    circuitChanged(service, path, state) {
      circuits.of(service, path).state = state;
      transitions.of(service, path, state).value += 1;
    },
  } satisfies Partial<Events>;

  function pay(service: ServiceName, caller: string, calls: number): void {
    paid.of(service, caller).value += calls;
    const price = prices[service];
    if (price !== null) spent.of(service, caller, price.currency).value += calls * price.millionths;
  }
}

/** One for each service and configured caller; beyond it, calls are counted for the service and caller `other`. */
const maxPaidSeries = 2_000;

/** Whether the files that were read again are valid. */
function showFiles({ counted }: SharedMetrics) {
  const files = counted.counts('ledgerquill_configured_file_valid');
  const show = (value: 0 | 1) => (file: string) => {
    files.of(file).value = value;
  };
  // The process started with them.
  configuredFiles.forEach(show(1));
  return { fileReloaded: show(1), fileInvalid: show(0) } satisfies Partial<Events>;
}

/** What LedgerquillUpstreamSlow compares: answers and timeouts. */
const alertedCalls = [
  ['bank-data', 'GET', 200, ''],
  ['bank-data', 'GET', '', 'timed-out'],
];

/** A circuit breaker as one sample per state: 1 for its own state, 0 for other states. */
class Circuit {
  state: CircuitState = 'closed';

  collect(): readonly Sample[] {
    return circuitStates.map((state) => ({ labels: { state }, value: state === this.state ? 1 : 0 }));
  }
}
