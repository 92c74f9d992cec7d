import { errorCodes, serviceNames, storeFailures, storeRisks } from '../../../base/errors.ts';
import { circuitStates, configuredFiles, type EssayOutcome, knownMethods } from '../events.ts';

/** The values of each label, or null where these are many. */
type Labels = Readonly<Record<string, readonly string[] | null>>;

const define =
  (type: 'counter' | 'gauge' | 'histogram') =>
  (help: string, labels: Labels = {}) => ({ type, help, labels });
const [counter, histogram, gauge] = [define('counter'), define('histogram'), define('gauge')];

/**
 * All metrics, with the texts of docs/metrics.md. Names follow the semantic conventions of OpenTelemetry, in the form of
 * Prometheus; our own begin with `ledgerquill_`. Every label has a bounded number of values.
 */
export const definitions = {
  http_server_request_duration_seconds: histogram(
    'Duration of HTTP requests, from their headers to their response. Status 499: the client disconnected.',
    {
      http_request_method: [...knownMethods, '_OTHER'],
      http_route: ['/graphql', '/check', '/mcp', '/health', '/ready', 'other'],
      http_response_status_code: null,
    },
  ),
  http_server_active_requests: gauge('HTTP requests that are not answered yet.'),
  http_client_request_duration_seconds: histogram(
    'Duration of upstream calls. error_type: the status from 400 on, or why there was no response.',
    { service: serviceNames, http_request_method: ['GET', 'POST'], http_response_status_code: null, error_type: null },
  ),
  ledgerquill_graphql_requests_total: counter(
    'GraphQL requests. The name is that of a trusted document, otherwise other; type none: nothing was executed.',
    { graphql_operation_type: ['query', 'mutation', 'subscription', 'none'], graphql_operation_name: null },
  ),
  ledgerquill_graphql_errors_total: counter(
    'Requests with an error of this code, or a result that is one, such as EssayServiceFailed; each code counts once.',
    { code: errorCodes },
  ),
  ledgerquill_request_overhead_seconds: histogram(
    'Time in which GraphQL requests waited neither for their body nor for an upstream.',
  ),
  ledgerquill_upstream_operations_total: counter(
    'Upstream operations, retries included: answered, failed (no response, one that cannot be read, or 5xx), refused (402, 429, or the body says so), rejected (401, 403, or the body says so; or not sent after such answers), shed (not sent), blocked (not sent: Retry-After, or refused before), exhausted (no calls left) or uncounted (not sent, as the store that counts calls fails).',
    {
      service: serviceNames,
      outcome: ['answered', 'failed', 'refused', 'rejected', 'shed', 'blocked', 'exhausted', 'uncounted'],
    },
  ),
  ledgerquill_upstream_attempts_total: counter(
    'Upstream calls: answered, or failed (no response, one that cannot be read, or 5xx).',
    { service: serviceNames, outcome: ['answered', 'failed'] },
  ),
  ledgerquill_circuit_breaker_state: gauge(
    '1 for the state of the circuit breaker of an endpoint: closed, open or half_open; 0 for the others.',
    { service: serviceNames, endpoint: null, state: circuitStates },
  ),
  ledgerquill_circuit_breaker_transitions_total: counter(
    'Changes of a circuit breaker to this state. A probe that failed opens it again.',
    { service: serviceNames, endpoint: null, state: circuitStates },
  ),
  ledgerquill_bulkhead_active: gauge('Upstream calls in flight.', { service: serviceNames }),
  ledgerquill_bulkhead_queued: gauge('Operations that wait for a call to end.', { service: serviceNames }),
  ledgerquill_essay_orders: gauge('Orders of startEssay that have not ended, of this process.', {
    state: ['waiting', 'running'],
  }),
  ledgerquill_essay_orders_oldest_age_seconds: gauge('Age of the oldest of them; 0: there is none.'),
  ledgerquill_cache_look_ups_total: counter(
    'Look-ups by what the cache had: hit, stale or miss. Those of kept replies are hits.',
    { result: ['hit', 'stale', 'miss'] },
  ),
  ledgerquill_cache_entries: gauge('Entries in memory: look_ups, replies or documents.', {
    cache: ['look_ups', 'replies', 'documents'],
  }),
  ledgerquill_cache_size_bytes: gauge('Memory of the entries, roughly.', {
    cache: ['look_ups', 'replies', 'documents'],
  }),
  ledgerquill_joined_flights_total: counter('Look-ups that waited for the upstream call of another one.'),
  ledgerquill_kept_replies_total: counter('Requests that were answered with the reply to an earlier one.'),
  ledgerquill_paid_calls_total: counter(
    'Upstream calls that were sent, and thus may be charged. other: the sum of callers with tokens.',
    { service: serviceNames, caller: null },
  ),
  ledgerquill_paid_millionths_total: counter(
    'What these calls cost by BANK_DATA_PRICE and ESSAY_PRICE, in millionths of the currency.',
    { service: serviceNames, caller: null, currency: null },
  ),
  ledgerquill_saved_calls_total: counter(
    'Look-ups and orders without a call, by why: cache, flight, kept_reply or idempotency_key.',
    { service: serviceNames, by: ['cache', 'flight', 'kept_reply', 'idempotency_key'] },
  ),
  ledgerquill_allowance_limit: gauge(
    'Calls per month, as configured or reported by the upstream; absent if unlimited.',
    { service: serviceNames },
  ),
  ledgerquill_allowance_remaining: gauge('Calls that are left this month; absent if unlimited.', {
    service: serviceNames,
  }),
  ledgerquill_budget_limit: gauge(
    'Paid calls per day or month of a caller that used its budget since the start. other: the sum of further callers.',
    { caller: null, service: serviceNames },
  ),
  ledgerquill_budget_used: gauge('Those that it has made.', { caller: null, service: serviceNames }),
  ledgerquill_budget_remaining: gauge('Those that are left.', { caller: null, service: serviceNames }),
  ledgerquill_essays_total: counter(
    'Orders by outcome: generated, from_key (of an earlier order with the same key), rejected, exhausted or failed.',
    { outcome: ['generated', 'from_key', 'rejected', 'exhausted', 'failed'] satisfies EssayOutcome[] },
  ),
  ledgerquill_refusals_total: counter('Requests, connections and (budget) operations that were refused, by limit.', {
    limit: [
      ...['rate_limit', 'budget', 'cost', 'response_size', 'body_size', 'connections', 'overloaded'],
      ...['unauthenticated', 'forbidden', 'untrusted_document'],
    ],
  }),
  ledgerquill_store_up: gauge('1 while the store works: it is connected, and its last write succeeded.'),
  ledgerquill_store_risk: gauge(
    '1 if what Redis has stored is not safe: it may delete it (eviction), or does not write it to disk (no_aof). Read once a minute.',
    { risk: storeRisks },
  ),
  ledgerquill_clock_steps_total: counter(
    'How often the clock was set by more than a minute, or the machine was suspended.',
  ),
  ledgerquill_issuer_up: gauge(
    '0 if the keys of the token issuer could not be read the last time, otherwise 1; absent without tokens.',
  ),
  ledgerquill_store_errors_total: counter(
    'Writes that failed, lost connections, and (timeout) answers that a look-up did not wait for any longer, by why.',
    { reason: storeFailures },
  ),
  ledgerquill_restored_counts_total: counter(
    'Counts of an allowance or a budget that went backwards, because the store lost data, and to which calls were added back.',
    { service: serviceNames },
  ),
  ledgerquill_data_dir_free_bytes: gauge('Free space of DATA_DIR; absent if nothing is written to it.'),
  ledgerquill_bank_list_valid_until_timestamp_seconds: gauge(
    'End of the last day of the bank list of this country; absent if unknown. After it, bankCodeStatus is UNKNOWN for unlisted bank codes.',
    { country: null },
  ),
  ledgerquill_configured_file_valid: gauge(
    '0 while the file of this variable, as it was read again, is invalid: then its last valid content is in use. Otherwise 1.',
    { file: configuredFiles },
  ),
  ledgerquill_log_lines_dropped_total: counter('Requests beyond REQUEST_LOG_PER_SECOND that were not logged.'),
  ledgerquill_audit_lines_waiting: gauge(
    'Lines of the audit trail that cannot be written: in memory, or lost because it is full.',
  ),
  ledgerquill_unreachable_calls_total: counter(
    'Upstream calls that could not be sent. error_code: of the name server, the connection or TLS.',
    { service: serviceNames, error_code: null },
  ),
  ledgerquill_build_info: gauge('1, with the version and, from `REVISION`, the commit of the gateway.', {
    version: null,
    revision: null,
  }),
  ledgerquill_config_info: gauge(
    '1, with a hash of the secret of the store, of all settings that must be the same for all replicas, and of the bank lists.',
    { hash: null },
  ),
  nodejs_eventloop_delay_p50_seconds: gauge('Median delay of the event loop since the last scrape.'),
  nodejs_eventloop_delay_p99_seconds: gauge('99th percentile of the delay of the event loop since the last scrape.'),
  nodejs_eventloop_delay_max_seconds: gauge('Longest delay of the event loop since the last scrape.'),
  nodejs_eventloop_utilization_ratio: gauge(
    'Part of the time since the last scrape in which the event loop was busy, from 0 to 1.',
  ),
  process_memory_usage_bytes: gauge('Resident memory of the process.'),
  v8js_memory_heap_used_bytes: gauge('JavaScript heap in use.'),
  v8js_memory_heap_limit_bytes: gauge('Maximum size of the JavaScript heap.'),
  process_cpu_time_seconds_total: counter('CPU time of the process.'),
  process_uptime_seconds: gauge('Time since the process started.'),
};

export type MetricName = keyof typeof definitions;
