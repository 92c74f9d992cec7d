import { type Aggregate, definitions, type MetricName } from './definitions.ts';
import { processUsage, type Samples } from './exposition.ts';
import type { Sample } from './series.ts';

/**
 * The metrics of all workers as those of one gateway. What a worker has counted remains after its end: a sum that decreases
 * looks like a restart, and thus like as many new requests.
 */
export function createWorkerMetrics() {
  const latest = new Map<number, Samples>();
  let ended: Samples = {};

  return {
    record: (worker: number, samples: Samples) => void latest.set(worker, samples),
    /** Counts later than the last recorded ones are lost. */
    end(worker: number): void {
      ended = aggregate([ended, onlyCounts(latest.get(worker) ?? {})]);
      latest.delete(worker);
    },
    /** With what the present process, the primary, uses. */
    total(): Samples {
      const ofPrimary = Object.entries(processUsage).map(([name, read]) => [name, read()]);
      return aggregate([ended, ...latest.values(), Object.fromEntries(ofPrimary)]);
    },
  };
}

function onlyCounts(samples: Samples): Samples {
  return Object.fromEntries(
    Object.entries(samples).filter(([name]) => definitions[name as MetricName].type !== 'gauge'),
  );
}

function aggregate(all: readonly Samples[]): Samples {
  const metrics = Object.entries(definitions).map(([name, { aggregate }]) => {
    const samples = all.flatMap((one) => one[name as MetricName] ?? []);
    return [name, aggregateMetric(aggregate, samples)];
  });
  return Object.fromEntries(metrics);
}

/** One sample for all with the same labels. */
function aggregateMetric(aggregate: Aggregate, samples: readonly Sample[]): readonly Sample[] {
  const found = new Map<string, Sample>();
  for (const sample of samples) {
    const key = JSON.stringify([sample.suffix, sample.labels]);
    const value = found.get(key)?.value;
    found.set(key, value === undefined ? sample : { ...sample, value: aggregators[aggregate](value, sample.value) });
  }
  return [...found.values()];
}

const aggregators: Readonly<Record<Aggregate, (one: number, other: number) => number>> = {
  sum: (one, other) => one + other,
  min: Math.min,
  max: Math.max,
};
