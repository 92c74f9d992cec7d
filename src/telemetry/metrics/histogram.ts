import type { Sample } from './sample.ts';
import { Series } from './series.ts';

/** Durations, counted by upper bounds. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** Of each bound, and at the end of durations above all. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds in seconds, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array<number>(bounds.length + 1).fill(0);
  }

  observe(seconds: number): void {
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && seconds > (bounds[index] as number)) index += 1;
    this.#counts[index] = (this.#counts[index] as number) + 1;
    this.#sum += seconds;
  }

  collect(): readonly Sample[] {
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, index): Sample => {
      count += this.#counts[index] ?? 0;
      return { suffix: '_bucket', labels: { le }, value: count };
    });
    return [...buckets, { suffix: '_sum', value: this.#sum }, { suffix: '_count', value: count }];
  }
}

export function createHistograms(names: readonly string[], bounds: readonly number[], maxSeries: number) {
  const series = new Series(names, () => new Histogram(bounds), maxSeries);
  return {
    series,
    collect: () => series.collect((histogram) => histogram.collect()),
  };
}

/** Those of OpenTelemetry, and more: a reply from memory takes less than a millisecond, an essay up to two minutes. */
export const durationBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120,
];
export const overheadBounds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];
