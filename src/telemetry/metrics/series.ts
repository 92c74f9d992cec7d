import type { Sample } from './sample.ts';

type Label = string | number;

/** The values of one metric by its labels. Beyond a limit, all further ones share a value, whose labels are `other`. */
export class Series<Value> {
  readonly #names: readonly string[];
  readonly #createValue: () => Value;
  readonly #maxSeries: number;
  readonly #values = new Map<string, { labels: readonly Label[]; value: Value }>();
  #a: Label = '';
  #b: Label = '';
  #c: Label = '';
  #d: Label = '';
  #last: Value | null = null;

  constructor(names: readonly string[], createValue: () => Value, maxSeries = 100) {
    this.#names = names;
    this.#createValue = createValue;
    this.#maxSeries = maxSeries;
  }

  /** The value for these labels. Most requests have the same as the one before, which costs four comparisons. */
  of(a: Label, b: Label = '', c: Label = '', d: Label = ''): Value {
    if (this.#last !== null && a === this.#a && b === this.#b && c === this.#c && d === this.#d) return this.#last;
    const value = this.#find([a, b, c, d]);
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
    this.#last = value;
    return value;
  }

  #find(labels: readonly Label[]): Value {
    const key = labels.join('\n');
    const known = this.#values.get(key);
    if (known !== undefined) return known.value;
    if (this.#values.size >= this.#maxSeries && labels[0] !== 'other') {
      return this.#find(labels.map((_, index) => (index < this.#names.length ? 'other' : '')));
    }
    const value = this.#createValue();
    this.#values.set(key, { labels: labels.slice(0, this.#names.length), value });
    return value;
  }

  /** @param read the samples of one value, to which its labels are added */
  collect(read: (value: Value) => readonly Sample[]): Sample[] {
    return [...this.#values.values()].flatMap(({ labels, value }) => {
      const named = Object.fromEntries(this.#names.map((name, index) => [name, labels[index] ?? '']));
      return read(value).map((sample) => ({ ...sample, labels: { ...named, ...sample.labels } }));
    });
  }
}

export class Count {
  value = 0;
}

/** Counts by labels. @param known combinations that exist from the start, so that they are 0 and not absent */
export function createCounts(names: readonly string[], known: readonly Label[][] = [], maxSeries?: number) {
  const series = new Series(names, () => new Count(), maxSeries);
  for (const [a = '', b, c] of known) series.of(a, b, c);
  return {
    of: (a: Label, b?: Label, c?: Label) => series.of(a, b, c),
    collect: () => series.collect((count) => [count]),
  };
}
