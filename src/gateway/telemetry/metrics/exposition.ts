import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { readVersion } from '../../../base/process/package-files.ts';
import { definitions, type MetricName } from './definitions.ts';
import { createGatewayMetrics, type MetricSources } from './gateway-metrics.ts';
import type { Metrics } from './metrics.ts';
import type { Sample } from './series.ts';

/** The samples of all metrics, or of some. */
export type Samples = Partial<Readonly<Record<MetricName, readonly Sample[]>>>;

export type Exposition = ReturnType<typeof createExposition>;

/** Reads the metrics of this process. A test checks that each metric of `definitions` is counted or read, with its labels. */
export function createExposition({ counted }: Pick<Metrics, 'counted'>, sources: MetricSources) {
  const { readers: ofProcess, reset, close } = createProcessMetrics();
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
export function formatMetric(name: MetricName, samples: readonly Sample[]): string {
  const { help, type } = definitions[name];
  const lines = samples.map(({ value, labels = {}, suffix = '' }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(String(text))}"`);
    return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`;
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n');
}

function escapeLabel(text: string): string {
  return text.replace(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
}

/** Starts to measure the delay of the event loop, until `close`. */
function createProcessMetrics() {
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
    ledgerquill_build_info: (): Sample[] => [{ labels: { version }, value: 1 }],
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
