import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { type ServiceName, type StoreRisk, storeRisks } from '../../../base/errors.ts';
import { readVersion } from '../../../base/process/package-files.ts';
import { definitions, type MetricName } from './definitions.ts';
import type { Metrics } from './metrics.ts';
import type { Sample } from './series.ts';

export interface CacheStatus {
  entries: number;
  bytes: number;
}

interface Limit {
  service: ServiceName;
  limit: number | null;
  remaining: number | null;
}

/** Calls of a caller per day or month. */
interface Budget {
  caller: string;
  service: ServiceName;
  limit: number;
  used: number;
  remaining: number;
}

/** Values that are read from the parts of the gateway when metrics are scraped. */
export interface MetricSources {
  activeRequests(): number;
  bulkheads(): Readonly<Record<ServiceName, { active: number; queued: number }>>;
  /** Orders that are written without their client, and have not ended. */
  essayOrders(): { waiting: number; running: number; oldestMs: number };
  /** Cached look-ups in memory. */
  lookUps(): CacheStatus;
  caches(): Readonly<Record<'replies' | 'documents', CacheStatus>>;
  /** Null for one that is not known yet. */
  allowances(): Promise<readonly (Limit | null)[]>;
  /** The budgets of the callers that used theirs last. */
  budgets(): Iterable<Budget>;
  isStoreUp(): boolean;
  storeRisks(): readonly StoreRisk[];
  /** Null without tokens. */
  isIssuerUp(): boolean | null;
  /** On the disk of the embedded store; null if there is none. */
  freeBytes(): Promise<number | null>;
  bankLists(): readonly { country: string; validUntil: string | null }[];
  droppedLogLines(): number;
  /** Lines of the audit trail that cannot be written. */
  unwrittenAuditLines(): number;
  /** A hash of what all replicas must have in common. */
  configHash(): Promise<string>;
  /** The commit that runs; empty if it is not known. */
  revision: string;
}

/** The samples of all metrics, or of some. */
export type Samples = Partial<Readonly<Record<MetricName, readonly Sample[]>>>;

/** Reads the metrics of this process. A test checks that each metric of `definitions` is counted or read, with its labels. */
export function createExposition({ counted }: Pick<Metrics, 'counted'>, sources: MetricSources) {
  const { readers: ofProcess, reset, close } = createProcessMetrics(sources.revision);
  const readers: Partial<Record<MetricName, ReadMetric>> = { ...createGatewayMetrics(sources), ...ofProcess };
  return {
    async collect(): Promise<Samples> {
      const reading = metricNames.map(async (name) => {
        return [name, counted.collect(name) ?? (await readers[name]?.())] as const;
      });
      const samples = Object.fromEntries(await Promise.all(reading));
      reset();
      return samples;
    },
    close,
  };
}

/** Reads the values of a metric when it is scraped. */
type ReadMetric = () => readonly Sample[] | Promise<readonly Sample[]>;

const metricNames = Object.keys(definitions) as MetricName[];

/** All metrics in the text format of Prometheus. */
export function formatMetrics(samples: Samples): string {
  return `${metricNames.map((name) => formatMetric(name, samples[name] ?? [])).join('\n\n')}\n`;
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
function formatMetric(name: MetricName, samples: readonly Sample[]): string {
  const { help, type } = definitions[name];
  const format = (suffix: string, value: number, labels: Sample['labels'] = {}) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(String(text))}"`);
    return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`;
  };
  const lines = samples.flatMap(({ value, labels }) => {
    if (typeof value === 'number') return format('', value, labels);
    const { buckets, sum, count } = value;
    let below = 0;
    const bounded = [...buckets.boundaries, '+Inf'].map((le, index) => {
      below += buckets.counts[index] ?? 0;
      return format('_bucket', below, { ...labels, le });
    });
    return [...bounded, format('_sum', sum, labels), format('_count', count, labels)];
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n');
}

function escapeLabel(text: string): string {
  return text.replace(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
}

function createGatewayMetrics(sources: MetricSources) {
  const allowances = async (name: 'limit' | 'remaining') =>
    (await sources.allowances()).flatMap((allowance): Sample[] => {
      if (allowance === null) return [];
      const { service, [name]: value } = allowance;
      return value === null ? [] : [{ labels: { service }, value }];
    });
  const caches = () => ({ look_ups: sources.lookUps(), ...sources.caches() });
  return {
    http_server_active_requests: () => one(sources.activeRequests()),
    ledgerquill_bulkhead_active: () => list('service', sources.bulkheads(), ({ active }) => active),
    ledgerquill_bulkhead_queued: () => list('service', sources.bulkheads(), ({ queued }) => queued),
    ledgerquill_essay_orders() {
      const { waiting, running } = sources.essayOrders();
      return list('state', { waiting, running }, (value) => value);
    },
    ledgerquill_essay_orders_oldest_age_seconds: () => one(sources.essayOrders().oldestMs / 1_000),
    ledgerquill_cache_entries: () => list('cache', caches(), ({ entries }) => entries),
    ledgerquill_cache_size_bytes: () => list('cache', caches(), ({ bytes }) => bytes),
    ledgerquill_allowance_limit: () => allowances('limit'),
    ledgerquill_allowance_remaining: () => allowances('remaining'),
    ledgerquill_budget_limit: () => listBudgets(sources.budgets(), 'limit'),
    ledgerquill_budget_used: () => listBudgets(sources.budgets(), 'used'),
    ledgerquill_budget_remaining: () => listBudgets(sources.budgets(), 'remaining'),
    ledgerquill_store_up: () => one(sources.isStoreUp() ? 1 : 0),
    ledgerquill_store_risk: () =>
      storeRisks.map((risk) => ({ labels: { risk }, value: sources.storeRisks().includes(risk) ? 1 : 0 })),
    ledgerquill_issuer_up() {
      const isUp = sources.isIssuerUp();
      return isUp === null ? [] : one(isUp ? 1 : 0);
    },
    ledgerquill_data_dir_free_bytes: async () => {
      const value = await sources.freeBytes();
      return value === null ? [] : [{ value }];
    },
    ledgerquill_bank_list_valid_until_timestamp_seconds: () =>
      sources.bankLists().flatMap(({ country, validUntil }): Sample[] => {
        if (validUntil === null) return [];
        return [{ labels: { country }, value: (Date.parse(validUntil) + dayMs) / 1_000 }];
      }),
    ledgerquill_log_lines_dropped_total: () => one(sources.droppedLogLines()),
    ledgerquill_audit_lines_waiting: () => one(sources.unwrittenAuditLines()),
    ledgerquill_config_info: async () => [{ labels: { hash: await sources.configHash() }, value: 1 }],
  };
}

const dayMs = 24 * 60 * 60 * 1_000;

function list<Item>(label: string, items: Readonly<Record<string, Item>>, read: (item: Item) => number): Sample[] {
  return Object.entries(items).map(([name, item]) => ({ labels: { [label]: name }, value: read(item) }));
}

/** Lists configured callers by name, and the first callers with tokens; further budgets are summed. */
function listBudgets(budgets: Iterable<Budget>, name: 'limit' | 'used' | 'remaining'): Sample[] {
  const samples: Sample[] = [];
  const others = new Map<ServiceName, number>();
  const left = { configured: maxConfigured, tokens: maxTokens };
  for (const { caller, service, [name]: value } of budgets) {
    const kind = caller.startsWith('jwt:') ? 'tokens' : 'configured';
    left[kind] -= 1;
    if (left[kind] >= 0) samples.push({ labels: { caller, service }, value });
    else others.set(service, (others.get(service) ?? 0) + value);
  }
  for (const [service, value] of others) samples.push({ labels: { caller: 'other', service }, value });
  return samples;
}

/** Series: a caller may have two. */
const maxConfigured = 1_000;
const maxTokens = 100;

/** Starts to measure the delay of the event loop, until `close`. */
function createProcessMetrics(revision: string) {
  const delay = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delay.enable();
  let lastUtilization = performance.eventLoopUtilization();
  const version = readVersion();

  const readers = {
    nodejs_eventloop_delay_p50_seconds: () => one(secondsOf(delay, delay.percentile(50))),
    nodejs_eventloop_delay_p99_seconds: () => one(secondsOf(delay, delay.percentile(99))),
    nodejs_eventloop_delay_max_seconds: () => one(secondsOf(delay, delay.max)),
    nodejs_eventloop_utilization_ratio() {
      const current = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(current, lastUtilization);
      lastUtilization = current;
      return one(utilization);
    },
    process_memory_usage_bytes: () => one(process.memoryUsage.rss()),
    process_cpu_time_seconds_total() {
      const { user, system } = process.cpuUsage();
      return one((user + system) / 1e6);
    },
    v8js_memory_heap_used_bytes: () => one(getHeapStatistics().used_heap_size),
    v8js_memory_heap_limit_bytes: () => one(getHeapStatistics().heap_size_limit),
    process_uptime_seconds: () => one(process.uptime()),
    ledgerquill_build_info: (): Sample[] => [{ labels: { version, revision }, value: 1 }],
  };
  return {
    readers,
    /** Called after each scrape. */
    reset: () => delay.reset(),
    close: () => void delay.disable(),
  };
}

const delayResolutionMs = 20;

/** The timer itself takes its resolution. Zero if nothing was measured since the last reset. */
function secondsOf({ count }: IntervalHistogram, nanoseconds: number): number {
  return count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - delayResolutionMs / 1_000);
}

function one(value: number): Sample[] {
  return [{ value }];
}
