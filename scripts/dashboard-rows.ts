/** A Grafana panel: its unit, and the name of each line (with labels in braces) with its PromQL query. */
export interface Panel {
  title: string;
  /** One sentence. */
  description: string;
  unit: string;
  lines: Record<string, string>;
  /** Single values instead of a graph. */
  isStat?: boolean;
}

/** The rows of the dashboard. `SELECT` in a query is the gateways that are selected in Grafana. */
export const dashboardRows: Record<string, Panel[]> = {
  Overview: [
    {
      title: 'Requests',
      description: 'GraphQL requests per second, by operation type.',
      unit: 'reqps',
      lines: {
        '{{graphql_operation_type}}':
          'sum by (graphql_operation_type) (rate(ledgerquill_graphql_requests_total{SELECT}[$__rate_interval]))',
      },
    },
    {
      title: 'Duration',
      description: 'Of GraphQL requests, with the time that upstreams take.',
      unit: 's',
      lines: quantiles('http_server_request_duration_seconds_bucket{SELECT, http_route="/graphql"}'),
    },
    {
      title: 'Overhead',
      description: 'The part of the duration in which a request waited for no upstream.',
      unit: 's',
      lines: quantiles('ledgerquill_request_overhead_seconds_bucket{SELECT}'),
    },
    {
      title: 'Responses with an error status',
      description: 'Requests refused (4xx), and failed (5xx).',
      unit: 'reqps',
      lines: {
        '{{http_response_status_code}}':
          'sum by (http_response_status_code) (rate(http_server_request_duration_seconds_count{SELECT, http_route="/graphql", http_response_status_code=~"[45].."}[$__rate_interval]))',
      },
    },
    {
      title: 'GraphQL errors',
      description: 'By code; docs/operations.md lists what to do for each.',
      unit: 'short',
      lines: { '{{code}}': 'sum by (code) (rate(ledgerquill_graphql_errors_total{SELECT}[$__rate_interval]))' },
    },
    {
      title: 'Refusals',
      description: 'Requests that a limit refused.',
      unit: 'reqps',
      lines: { '{{limit}}': 'sum by (limit) (rate(ledgerquill_refusals_total{SELECT}[$__rate_interval]))' },
    },
  ],
  'Paid calls': [
    {
      title: 'Allowance left',
      description: 'Calls that an upstream still accepts this month.',
      unit: 'short',
      isStat: true,
      lines: { '{{service}}': 'min by (service) (ledgerquill_allowance_remaining{SELECT})' },
    },
    {
      title: 'Allowance left, share',
      description: 'Of the monthly allowance.',
      unit: 'percentunit',
      isStat: true,
      lines: {
        '{{service}}':
          'min by (service) (ledgerquill_allowance_remaining{SELECT}) / min by (service) (ledgerquill_allowance_limit{SELECT})',
      },
    },
    {
      title: 'Paid calls today',
      description: 'In the last 24 hours.',
      unit: 'short',
      isStat: true,
      lines: { '{{service}}': 'sum by (service) (increase(ledgerquill_paid_calls_total{SELECT}[24h]))' },
    },
    {
      title: 'Spent today',
      description: 'What these calls cost by their prices, in each currency.',
      unit: 'short',
      isStat: true,
      lines: {
        '{{currency}}': 'sum by (currency) (increase(ledgerquill_paid_millionths_total{SELECT}[24h])) / 1e6',
      },
    },
    {
      title: 'Paid and saved calls',
      description: 'Calls that were paid for, and calls that were not needed, by reason.',
      unit: 'cps',
      lines: {
        'paid: {{service}}': 'sum by (service) (rate(ledgerquill_paid_calls_total{SELECT}[$__rate_interval]))',
        'saved: {{service}} by {{by}}':
          'sum by (service, by) (rate(ledgerquill_saved_calls_total{SELECT}[$__rate_interval]))',
      },
    },
    {
      title: 'Hit ratio',
      description: 'Look-ups that needed no call of their own, among all that were paid for or saved.',
      unit: 'percentunit',
      lines: {
        'look-ups':
          'sum(rate(ledgerquill_saved_calls_total{SELECT, service="bank-data"}[$__rate_interval])) / (sum(rate(ledgerquill_saved_calls_total{SELECT, service="bank-data"}[$__rate_interval])) + sum(rate(ledgerquill_paid_calls_total{SELECT, service="bank-data"}[$__rate_interval])))',
      },
    },
    {
      title: 'Budgets left',
      description: 'Calls that each caller may still cause, with the least first.',
      unit: 'short',
      lines: {
        '{{caller}}, {{service}}': 'bottomk(10, min by (caller, service) (ledgerquill_budget_remaining{SELECT}))',
      },
    },
    {
      title: 'Budgets used',
      description: 'The part of its budget that each caller has used, with the largest first.',
      unit: 'percentunit',
      lines: {
        '{{caller}}, {{service}}':
          'topk(10, max by (caller, service) (ledgerquill_budget_used{SELECT}) / min by (caller, service) (ledgerquill_budget_limit{SELECT}))',
      },
    },
    {
      title: 'Essays',
      description: 'Orders per hour, by outcome.',
      unit: 'short',
      lines: { '{{outcome}}': 'sum by (outcome) (increase(ledgerquill_essays_total{SELECT}[1h]))' },
    },
  ],
  Upstreams: [
    {
      title: 'Operations by outcome',
      description: 'Shed: not sent, because the circuit breaker is open or the queue is full.',
      unit: 'ops',
      lines: {
        '{{service}} {{outcome}}':
          'sum by (service, outcome) (rate(ledgerquill_upstream_operations_total{SELECT}[$__rate_interval]))',
      },
    },
    {
      title: 'Attempts by outcome',
      description: 'More attempts than operations are retries.',
      unit: 'cps',
      lines: {
        '{{service}} {{outcome}}':
          'sum by (service, outcome) (rate(ledgerquill_upstream_attempts_total{SELECT}[$__rate_interval]))',
      },
    },
    {
      title: 'Duration of a call, 95 %',
      description: 'Of each attempt, without the time in the queue.',
      unit: 's',
      lines: {
        '{{service}}':
          'histogram_quantile(0.95, sum by (service, le) (rate(http_client_request_duration_seconds_bucket{SELECT}[$__rate_interval])))',
      },
    },
    {
      title: 'Failed calls',
      description: 'By status or kind of error.',
      unit: 'cps',
      lines: {
        '{{service}} {{http_response_status_code}} {{error_type}}':
          'sum by (service, http_response_status_code, error_type) (rate(http_client_request_duration_seconds_count{SELECT, error_type!=""}[$__rate_interval]))',
      },
    },
    {
      title: 'Calls that could not be sent',
      description: 'By the error of the name server, the connection or TLS.',
      unit: 'cps',
      lines: {
        '{{service}} {{error_code}}':
          'sum by (service, error_code) (rate(ledgerquill_unreachable_calls_total{SELECT}[$__rate_interval]))',
      },
    },
    {
      title: 'Open circuit breakers',
      description: 'Number of gateways whose circuit breaker is open.',
      unit: 'short',
      lines: {
        '{{service}} {{endpoint}}':
          'sum by (service, endpoint) (ledgerquill_circuit_breaker_state{SELECT, state="open"})',
        'opened: {{service}} {{endpoint}}':
          'sum by (service, endpoint) (increase(ledgerquill_circuit_breaker_transitions_total{SELECT, state="open"}[$__rate_interval]))',
      },
    },
    {
      title: 'Calls and queue',
      description: 'Concurrent calls, and operations that wait for one.',
      unit: 'short',
      lines: {
        'calls: {{service}}': 'sum by (service) (ledgerquill_bulkhead_active{SELECT})',
        'queue: {{service}}': 'sum by (service) (ledgerquill_bulkhead_queued{SELECT})',
      },
    },
    {
      title: 'Essay orders',
      description: 'Orders of startEssay that have not ended.',
      unit: 'short',
      lines: { '{{state}}': 'sum by (state) (ledgerquill_essay_orders{SELECT})' },
    },
    {
      title: 'Oldest essay order',
      description: 'Its age.',
      unit: 's',
      lines: { age: 'max(ledgerquill_essay_orders_oldest_age_seconds{SELECT})' },
    },
  ],
  'Cache and stores': [
    {
      title: 'Look-ups',
      description: 'By result of the cache.',
      unit: 'ops',
      lines: {
        '{{result}}': 'sum by (result) (rate(ledgerquill_cache_look_ups_total{SELECT}[$__rate_interval]))',
        'joined flights': 'sum(rate(ledgerquill_joined_flights_total{SELECT}[$__rate_interval]))',
        'kept replies': 'sum(rate(ledgerquill_kept_replies_total{SELECT}[$__rate_interval]))',
      },
    },
    {
      title: 'Size of the caches',
      description: 'In each gateway.',
      unit: 'bytes',
      lines: { '{{cache}}': 'max by (cache) (ledgerquill_cache_size_bytes{SELECT})' },
    },
    {
      title: 'Entries of the caches',
      description: 'In each gateway.',
      unit: 'short',
      lines: { '{{cache}}': 'max by (cache) (ledgerquill_cache_entries{SELECT})' },
    },
    {
      title: 'Stores',
      description:
        '1: the store of the gateway can be used; 1 for a risk: Redis may lose what it has stored. 1: the keys of the token issuer can be read.',
      unit: 'short',
      isStat: true,
      lines: {
        '{{instance}}': 'min by (instance) (ledgerquill_store_up{SELECT})',
        'risk: {{risk}}': 'max by (risk) (ledgerquill_store_risk{SELECT})',
        issuer: 'min(ledgerquill_issuer_up{SELECT})',
        'steps of the clock in an hour': 'sum(increase(ledgerquill_clock_steps_total{SELECT}[1h]))',
      },
    },
    {
      title: 'Errors of the stores',
      description: 'Writes that failed, and lost connections, by why; counts that were restored after a loss of data.',
      unit: 'ops',
      lines: {
        '{{reason}}': 'sum by (reason) (rate(ledgerquill_store_errors_total{SELECT}[$__rate_interval]))',
        'restored counts: {{service}}':
          'sum by (service) (rate(ledgerquill_restored_counts_total{SELECT}[$__rate_interval]))',
      },
    },
    {
      title: 'Free space of DATA_DIR',
      description: 'Without Redis.',
      unit: 'bytes',
      lines: { '{{instance}}': 'min by (instance) (ledgerquill_data_dir_free_bytes{SELECT})' },
    },
    {
      title: 'Bank lists',
      description: 'Days until the last valid day of the list of each country.',
      unit: 'd',
      isStat: true,
      lines: {
        '{{country}}':
          '(min by (country) (ledgerquill_bank_list_valid_until_timestamp_seconds{SELECT}) - time()) / 86400',
      },
    },
    {
      title: 'Log lines dropped',
      description: 'By the sampling of request lines.',
      unit: 'short',
      lines: {
        '{{instance}}': 'sum by (instance) (rate(ledgerquill_log_lines_dropped_total{SELECT}[$__rate_interval]))',
      },
    },
    {
      title: 'Audit lines that wait',
      description: 'Lines of the audit trail that cannot be written.',
      unit: 'short',
      lines: { '{{instance}}': 'max by (instance) (ledgerquill_audit_lines_waiting{SELECT})' },
    },
  ],
  Processes: [
    {
      title: 'Gateways',
      description: 'By release.',
      unit: 'short',
      isStat: true,
      lines: { '{{version}}': 'count by (version) (ledgerquill_build_info{SELECT})' },
    },
    {
      title: 'Configurations',
      description: 'Gateways by the hash of their secret, limits and bank lists: more than one hash is a mistake.',
      unit: 'short',
      isStat: true,
      lines: { '{{hash}}': 'count by (hash) (ledgerquill_config_info{SELECT})' },
    },
    {
      title: 'Invalid files',
      description: 'Files that were changed and are invalid: their last valid content is in use.',
      unit: 'short',
      isStat: true,
      lines: { '{{file}}': 'sum by (file) (1 - ledgerquill_configured_file_valid{SELECT})' },
    },
    {
      title: 'Uptime',
      description: 'Since the start of each process.',
      unit: 's',
      isStat: true,
      lines: { '{{instance}}': 'max by (instance) (process_uptime_seconds{SELECT})' },
    },
    {
      title: 'CPU and event loop',
      description: 'Cores in use, and the share of time in which the event loop was busy.',
      unit: 'percentunit',
      lines: {
        'CPU {{instance}}': 'sum by (instance) (rate(process_cpu_time_seconds_total{SELECT}[$__rate_interval]))',
        'event loop {{instance}}': 'max by (instance) (nodejs_eventloop_utilization_ratio{SELECT})',
      },
    },
    {
      title: 'Event loop delay',
      description: 'How long work waits for other work.',
      unit: 's',
      lines: {
        'p50 {{instance}}': 'max by (instance) (nodejs_eventloop_delay_p50_seconds{SELECT})',
        'p99 {{instance}}': 'max by (instance) (nodejs_eventloop_delay_p99_seconds{SELECT})',
        'max {{instance}}': 'max by (instance) (nodejs_eventloop_delay_max_seconds{SELECT})',
      },
    },
    {
      title: 'Memory',
      description: 'Of the process, and of the heap with its limit.',
      unit: 'bytes',
      lines: {
        'process {{instance}}': 'max by (instance) (process_memory_usage_bytes{SELECT})',
        'heap {{instance}}': 'max by (instance) (v8js_memory_heap_used_bytes{SELECT})',
        'heap limit {{instance}}': 'max by (instance) (v8js_memory_heap_limit_bytes{SELECT})',
      },
    },
    {
      title: 'Active requests',
      description: 'Requests that are being executed.',
      unit: 'short',
      lines: { '{{instance}}': 'sum by (instance) (http_server_active_requests{SELECT})' },
    },
  ],
};

function quantiles(buckets: string): Record<string, string> {
  return Object.fromEntries(
    [0.5, 0.95, 0.99].map((quantile) => [
      `${quantile * 100} %`,
      `histogram_quantile(${quantile}, sum by (le) (rate(${buckets}[$__rate_interval])))`,
    ]),
  );
}
