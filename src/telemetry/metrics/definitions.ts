import { serviceNames } from '../../errors.ts';
import type { EssayOutcome } from '../events.ts';
import { knownMethods } from '../finished-request.ts';

interface MetricDefinition {
  type: 'counter' | 'gauge' | 'histogram';
  /** Their values, where these are few. */
  labels: Readonly<Record<string, readonly string[] | null>>;
  /** Also in docs/metrics.md. */
  help: string;
}

export const circuitStates = ['closed', 'open', 'half_open'] as const;

/**
 * All metrics. Names follow the semantic conventions of OpenTelemetry, in the form of Prometheus; our own begin with
 * `ledgerquill_`. Every label has a bounded number of values.
 */
export const definitions = {
  http_server_request_duration_seconds: {
    type: 'histogram',
    labels: {
      http_request_method: [...knownMethods, '_OTHER'],
      http_route: ['/graphql', '/health', '/ready', 'other'],
      http_response_status_code: null,
    },
    help: 'Duration of HTTP requests, from their headers to their response. Status 499: the client disconnected.',
  },
  http_server_active_requests: { type: 'gauge', labels: {}, help: 'HTTP requests that are not answered yet.' },
  http_client_request_duration_seconds: {
    type: 'histogram',
    labels: {
      service: serviceNames,
      http_request_method: ['GET', 'POST'],
      http_response_status_code: null,
      error_type: null,
    },
    help: 'Duration of upstream calls. error_type: the status from 400 on, or why there was no response.',
  },
  ledgerquill_graphql_requests_total: {
    type: 'counter',
    labels: { graphql_operation_type: ['query', 'mutation', 'none'], graphql_operation_name: null },
    help: 'GraphQL requests. The name is that of a trusted document, otherwise other; type none: nothing was executed.',
  },
  ledgerquill_graphql_errors_total: {
    type: 'counter',
    labels: { code: null },
    help: 'Requests with an error of this code; one with several codes counts for each.',
  },
  ledgerquill_request_overhead_seconds: {
    type: 'histogram',
    labels: {},
    help: 'Time in which GraphQL requests waited neither for their body nor for an upstream.',
  },
  ledgerquill_upstream_operations_total: {
    type: 'counter',
    labels: { service: serviceNames, outcome: ['answered', 'failed', 'shed', 'exhausted'] },
    help: 'Upstream operations, retries included: answered, failed (no response, or 5xx), shed (not sent) or exhausted (no calls left).',
  },
  ledgerquill_upstream_attempts_total: {
    type: 'counter',
    labels: { service: serviceNames, outcome: ['answered', 'failed'] },
    help: 'Upstream calls: answered, or failed (no response, or 5xx).',
  },
  ledgerquill_circuit_breaker_state: {
    type: 'gauge',
    labels: { service: serviceNames, endpoint: null, state: circuitStates },
    help: '1 for the state of the circuit breaker of an endpoint: closed, open or half_open; 0 for the others.',
  },
  ledgerquill_circuit_breaker_transitions_total: {
    type: 'counter',
    labels: { service: serviceNames, endpoint: null, state: circuitStates },
    help: 'Changes of a circuit breaker to this state. A probe that failed opens it again.',
  },
  ledgerquill_bulkhead_active: { type: 'gauge', labels: { service: serviceNames }, help: 'Upstream calls in flight.' },
  ledgerquill_bulkhead_queued: {
    type: 'gauge',
    labels: { service: serviceNames },
    help: 'Operations that wait for a call to end.',
  },
  ledgerquill_cache_look_ups_total: {
    type: 'counter',
    labels: { result: ['hit', 'stale', 'miss'] },
    help: 'Look-ups by what the cache had: hit, stale or miss. Those of kept replies are hits.',
  },
  ledgerquill_cache_entries: {
    type: 'gauge',
    labels: { cache: ['look_ups', 'replies', 'documents'] },
    help: 'Entries in memory: look_ups, replies or documents.',
  },
  ledgerquill_cache_size_bytes: {
    type: 'gauge',
    labels: { cache: ['look_ups', 'replies', 'documents'] },
    help: 'Memory of the entries, roughly.',
  },
  ledgerquill_joined_flights_total: {
    type: 'counter',
    labels: {},
    help: 'Look-ups that waited for the upstream call of another one.',
  },
  ledgerquill_kept_replies_total: {
    type: 'counter',
    labels: {},
    help: 'Requests that were answered with the reply to an earlier one.',
  },
  ledgerquill_paid_calls_total: {
    type: 'counter',
    labels: { service: serviceNames },
    help: 'Upstream calls that were sent, and thus may be charged.',
  },
  ledgerquill_saved_calls_total: {
    type: 'counter',
    labels: { service: serviceNames, by: ['cache', 'flight', 'kept_reply', 'idempotency_key'] },
    help: 'Look-ups and orders without a call, by why: cache, flight, kept_reply or idempotency_key.',
  },
  ledgerquill_allowance_limit: {
    type: 'gauge',
    labels: { service: serviceNames },
    help: 'Calls per month, as configured or reported by the upstream; absent if unlimited.',
  },
  ledgerquill_allowance_remaining: {
    type: 'gauge',
    labels: { service: serviceNames },
    help: 'Calls that are left this month; absent if unlimited.',
  },
  ledgerquill_budget_remaining: {
    type: 'gauge',
    labels: { caller: null, service: serviceNames },
    help: 'Paid calls that are left to a caller that used its budget since the start. other: the sum of further callers.',
  },
  ledgerquill_essays_total: {
    type: 'counter',
    labels: { outcome: ['generated', 'from_key', 'rejected', 'exhausted', 'failed'] satisfies EssayOutcome[] },
    help: 'Orders by outcome: generated, from_key (of an earlier order with the same key), rejected, exhausted or failed.',
  },
  ledgerquill_refusals_total: {
    type: 'counter',
    labels: {
      limit: [
        ...['rate_limit', 'budget', 'cost', 'body_size', 'connections', 'overloaded'],
        ...['unauthenticated', 'forbidden', 'untrusted_document'],
      ],
    },
    help: 'Requests, connections and (budget) operations that were refused, by limit.',
  },
  ledgerquill_store_up: { type: 'gauge', labels: {}, help: '1 while the store works, 0 while Redis is down.' },
  ledgerquill_log_lines_dropped_total: {
    type: 'counter',
    labels: {},
    help: 'Requests beyond REQUEST_LOG_PER_SECOND that were not logged.',
  },
  ledgerquill_build_info: { type: 'gauge', labels: { version: null }, help: '1, with the version of the gateway.' },
  nodejs_eventloop_delay_p50_seconds: {
    type: 'gauge',
    labels: {},
    help: 'Median delay of the event loop since the last scrape.',
  },
  nodejs_eventloop_delay_p99_seconds: {
    type: 'gauge',
    labels: {},
    help: '99th percentile of the delay of the event loop since the last scrape.',
  },
  nodejs_eventloop_delay_max_seconds: {
    type: 'gauge',
    labels: {},
    help: 'Longest delay of the event loop since the last scrape.',
  },
  nodejs_eventloop_utilization_ratio: {
    type: 'gauge',
    labels: {},
    help: 'Part of the time since the last scrape in which the event loop was busy, from 0 to 1.',
  },
  process_memory_usage_bytes: { type: 'gauge', labels: {}, help: 'Resident memory of the process.' },
  v8js_memory_heap_used_bytes: { type: 'gauge', labels: {}, help: 'JavaScript heap in use.' },
  v8js_memory_heap_limit_bytes: { type: 'gauge', labels: {}, help: 'Maximum size of the JavaScript heap.' },
  process_cpu_time_seconds_total: { type: 'counter', labels: {}, help: 'CPU time of the process.' },
  process_uptime_seconds: { type: 'gauge', labels: {}, help: 'Time since the process started.' },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof definitions;
