import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { readVersion } from '../../process/package-files.ts';
import type { Sample } from './sample.ts';

/** Starts to measure the delay of the event loop, until `close`. */
export function createProcessMetrics() {
  const delay = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delay.enable();
  let lastUtilization = performance.eventLoopUtilization();
  const version = readVersion();

  const collectors = {
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
    v8js_memory_heap_used_bytes: () => one(getHeapStatistics().used_heap_size),
    v8js_memory_heap_limit_bytes: () => one(getHeapStatistics().heap_size_limit),
    process_cpu_time_seconds_total() {
      const { user, system } = process.cpuUsage();
      return one((user + system) / 1e6);
    },
    process_uptime_seconds: () => one(process.uptime()),
    ledgerquill_build_info: (): Sample[] => [{ labels: { version }, value: 1 }],
  };
  return {
    collectors,
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
