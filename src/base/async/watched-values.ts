import type { Signal } from './signal.ts';
import { createTimeSlices } from './time-slices.ts';

interface WatchedValuesOptions<Value> {
  read: (key: string) => Promise<Value>;
  /** Whether a watcher of the one need not be shown the other. */
  isSame: (one: Value, other: Value) => boolean;
  /** Whether the value never changes again. */
  isLast: (value: Value) => boolean;
}

/** A value with watchers. */
interface Watched<Value> {
  latest: Value;
  /** Lets each watcher look at `latest`. */
  wake: Set<() => void>;
  /** Resolves when `latest` is up to date; null: it is not being read. */
  reading: Promise<void> | null;
  /** Whether it has changed since the last reading began. */
  isStale: boolean;
}

/**
 * Lets any number of watchers see the latest of values that are read by their keys. Each of them holds one value at most: one that reads
 * slowly misses some, and delays no others.
 */
export class WatchedValues<Value> {
  readonly #options: WatchedValuesOptions<Value>;
  readonly #watched = new Map<string, Watched<Value>>();
  /** Thousands of watchers see a change, so other requests are answered meanwhile. */
  readonly #inTimeSlice = createTimeSlices(sliceMs);
  #isClosed = false;

  constructor(options: WatchedValuesOptions<Value>) {
    this.#options = options;
  }

  /** The value now, and after each change. Ends with the last value, or with the signal. Rejects if it cannot be read at first. */
  async watch(key: string, signal: Signal): Promise<AsyncGenerator<Value>> {
    const known = this.#watched.get(key);
    return this.#follow(key, signal, known ? known.latest : await this.#options.read(key));
  }

  /** Reads all watched values: they may change without notice. */
  async refreshAll(): Promise<void> {
    await Promise.all([...this.#watched.keys()].map((key) => this.refresh(key)));
  }

  /** One reading at a time: their results must not overtake each other, and a text that grows is read at the speed of the store. */
  refresh(key: string): Promise<void> | null {
    const entry = this.#watched.get(key);
    if (entry === undefined) return null;
    entry.isStale = true;
    entry.reading ??= this.#readLatest(key, entry).finally(() => {
      entry.reading = null;
    });
    return entry.reading;
  }

  /** Ends all watches. */
  close(): void {
    this.#isClosed = true;
    for (const { wake } of this.#watched.values()) for (const wakeUp of wake) wakeUp();
  }

  async *#follow(key: string, signal: Signal, first: Value): AsyncGenerator<Value> {
    const known = this.#watched.get(key);
    const entry = known ?? { latest: first, wake: new Set(), reading: null, isStale: false };
    let wakeUp = () => {};
    const onWake = () => wakeUp();
    entry.wake.add(onWake);
    this.#watched.set(key, entry);
    // It may have changed since it was read; later changes are noticed.
    if (known === undefined) void this.refresh(key)?.catch(() => {});
    signal.addEventListener('abort', onWake);
    try {
      let shown: { value: Value } | null = null;
      while (!signal.aborted && !this.#isClosed) {
        if (shown !== null && entry.latest === shown.value) {
          await new Promise<void>((resolve) => {
            wakeUp = resolve;
          });
          continue;
        }
        shown = { value: entry.latest };
        yield shown.value;
        if (this.#options.isLast(shown.value)) return;
      }
    } finally {
      signal.removeEventListener('abort', onWake);
      entry.wake.delete(onWake);
      if (entry.wake.size === 0) this.#watched.delete(key);
    }
  }

  async #readLatest(key: string, entry: Watched<Value>): Promise<void> {
    while (entry.isStale) {
      entry.isStale = false;
      const latest = await this.#options.read(key);
      if (this.#options.isSame(entry.latest, latest)) continue;
      entry.latest = latest;
      for (const wakeUp of [...entry.wake]) await this.#inTimeSlice(wakeUp);
    }
  }
}

/** In milliseconds: how long watchers may delay other requests. */
const sliceMs = 4;
