import { definitions, type MetricName } from './definitions.ts';

/** One value of a metric. */
export interface Sample {
  value: number | Distribution;
  labels?: Readonly<Record<string, string | number>>;
}

/** Counts by upper bounds, ascending, and one count of values above all; in the form of OpenTelemetry. */
interface Distribution {
  buckets: { boundaries: readonly number[]; counts: readonly number[] };
  sum: number;
  count: number;
}

/** What has samples when metrics are scraped. */
interface Value {
  collect(): readonly Sample[];
}

export class Count implements Value {
  value = 0;

  collect(): readonly Sample[] {
    return [{ value: this.value }];
  }
}

/** Durations, counted by upper bounds. */
export class Histogram implements Value {
  readonly #bounds: readonly number[];
  /** One for each bound, and one for durations above all. */
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
    const counts = [...this.#counts];
    const count = counts.reduce((sum, one) => sum + one, 0);
    return [{ value: { buckets: { boundaries: this.#bounds, counts }, sum: this.#sum, count } }];
  }
}

type Label = string | number;

/** The values of one metric by its labels. Beyond a limit, all further ones share a value, whose labels are `other`. */
export class Series<One extends Value> implements Value {
  readonly #names: readonly string[];
  readonly #createValue: () => One;
  readonly #maxSeries: number;
  readonly #values = new Map<string, { labels: readonly Label[]; value: One }>();

  constructor(names: readonly string[], createValue: () => One, maxSeries = 100) {
    this.#names = names;
    this.#createValue = createValue;
    this.#maxSeries = maxSeries;
  }

  /** The value for these labels, in the order of their names. */
  of(...labels: readonly Label[]): One {
    const key = labels.join('\n');
    const known = this.#values.get(key);
    if (known !== undefined) return known.value;
    const isFull = this.#values.size >= this.#maxSeries;
    if (isFull && labels.some((label) => label !== 'other')) return this.of(...labels.map(() => 'other'));
    const value = this.#createValue();
    this.#values.set(key, { labels, value });
    return value;
  }

  collect(): readonly Sample[] {
    return [...this.#values.values()].flatMap(({ labels, value }) => {
      const named = Object.fromEntries(this.#names.map((name, index) => [name, labels[index] ?? '']));
      return value.collect().map((sample) => ({ ...sample, labels: { ...named, ...sample.labels } }));
    });
  }
}

/** The counted metrics of a process, by name. */
export class Registry {
  readonly #metrics = new Map<MetricName, Value>();

  /** Counts by labels. If all values of all labels are listed, the counts are 0 from the start, and not absent. */
  counts(name: MetricName, maxSeries?: number): Series<Count> {
    const { labels } = definitions[name];
    const counts = this.add(name, new Series(Object.keys(labels), () => new Count(), maxSeries));
    const listed = Object.values(labels).reduce<readonly string[][]>(
      (combinations, values) =>
        combinations.flatMap((combination) => (values ?? []).map((one) => [...combination, one])),
      [[]],
    );
    for (const combination of listed) counts.of(...combination);
    return counts;
  }

  /**
   * Durations by labels.
   * @param listed labels whose counts are 0 from the start: `increase` and `rate` do not see a series that begins with a count
   */
  durations(name: MetricName, listed: readonly (readonly Label[])[], bounds = durationBounds): Series<Histogram> {
    const names = Object.keys(definitions[name].labels);
    const durations = this.add(name, new Series(names, () => new Histogram(bounds), maxHistograms));
    for (const labels of listed) durations.of(...labels);
    return durations;
  }

  add<Added extends Value>(name: MetricName, value: Added): Added {
    this.#metrics.set(name, value);
    return value;
  }

  /** Undefined for a metric that is not counted here. */
  collect(name: MetricName): readonly Sample[] | undefined {
    return this.#metrics.get(name)?.collect();
  }
}

const maxHistograms = 200;

/** OpenTelemetry's bounds, and more: a reply from memory takes less than a millisecond, an essay up to two minutes. */
const durationBounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120,
];
