import { expect, it } from 'vitest';
import type { MetricName } from '../../src/telemetry/metrics/definitions.ts';
import type { Samples } from '../../src/telemetry/metrics/exposition.ts';
import { Histogram } from '../../src/telemetry/metrics/series.ts';
import { createWorkerMetrics } from '../../src/telemetry/metrics/worker-metrics.ts';

const one = (value: number, labels = {}) => [{ value, labels }];

/** The value of a metric, or its values by the last label. */
function read(samples: Samples, name: MetricName): unknown {
  const found = samples[name] ?? [];
  const texts = found.map(({ labels = {} }) => Object.values(labels).at(-1));
  return texts[0] === undefined ? found[0]?.value : Object.fromEntries(found.map(({ value }, i) => [texts[i], value]));
}

it.each<[name: MetricName, one: number, other: number, together: number]>([
  ['http_server_active_requests', 1, 2, 3],
  ['ledgerquill_cache_look_ups_total', 1, 2, 3],
  ['ledgerquill_store_up', 1, 0, 0],
  ['ledgerquill_build_info', 1, 1, 1],
  ['ledgerquill_circuit_breaker_state', 0, 1, 1],
  ['ledgerquill_allowance_remaining', 7, 5, 5],
  ['nodejs_eventloop_utilization_ratio', 0.2, 0.9, 0.9],
  ['process_uptime_seconds', 60, 5, 5],
])('%s of %d and %d is %d', (name, first, second, together) => {
  const metrics = createWorkerMetrics();
  metrics.record(1, { [name]: one(first) });
  metrics.record(2, { [name]: one(second) });
  expect(read(metrics.total(), name)).toBe(together);
});

it('values are those of the same labels', () => {
  const metrics = createWorkerMetrics();
  const codes = (...texts: string[]) => ({
    ledgerquill_graphql_errors_total: texts.flatMap((code) => one(1, { code })),
  });
  metrics.record(1, codes('FORBIDDEN', 'OVERLOADED'));
  metrics.record(2, codes('OVERLOADED'));
  expect(read(metrics.total(), 'ledgerquill_graphql_errors_total')).toEqual({ FORBIDDEN: 1, OVERLOADED: 2 });
});

it('durations are counted together', () => {
  const metrics = createWorkerMetrics();
  for (const worker of [1, 2]) {
    const histogram = new Histogram([1]);
    histogram.observe(worker);
    metrics.record(worker, { ledgerquill_request_overhead_seconds: histogram.collect() });
  }
  expect(metrics.total().ledgerquill_request_overhead_seconds).toEqual([
    { suffix: '_bucket', labels: { le: 1 }, value: 1 },
    { suffix: '_bucket', labels: { le: '+Inf' }, value: 2 },
    { suffix: '_sum', value: 3 },
    { suffix: '_count', value: 2 },
  ]);
});

it('counts of workers that have ended remain, and what they used does not', () => {
  const metrics = createWorkerMetrics();
  const read = () => {
    const { ledgerquill_kept_replies_total: counted, http_server_active_requests: used } = metrics.total();
    return [counted?.[0]?.value, used?.[0]?.value];
  };
  const report = (value: number) => ({
    ledgerquill_kept_replies_total: one(value),
    http_server_active_requests: one(1),
  });
  metrics.record(1, report(5));
  metrics.record(2, report(7));
  metrics.record(1, report(6));
  expect(read()).toEqual([13, 2]);
  metrics.end(1);
  expect(read()).toEqual([13, 1]);
  // The last report of a worker has only what it has counted.
  metrics.record(2, { ledgerquill_kept_replies_total: one(8) });
  metrics.end(2);
  metrics.end(3);
  expect(read()).toEqual([14, undefined]);
});

it('the memory and the time of the primary process are part of the sum', () => {
  const metrics = createWorkerMetrics();
  metrics.record(1, { process_memory_usage_bytes: [{ value: 1e12 }] });
  expect(read(metrics.total(), 'process_memory_usage_bytes')).toBeGreaterThan(1e12);
  expect(read(metrics.total(), 'process_cpu_time_seconds_total')).toBeGreaterThan(0);
});
