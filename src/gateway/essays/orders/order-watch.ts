import type { Signal } from '../../../base/async/signal.ts';
import { createTimeSlices } from '../../../base/async/time-slices.ts';
import type { EssayOrder, EssayOrderState } from '../port.ts';
import { type OrderName, toRecordKey } from './order.ts';

/** An order with watchers. */
interface Watched {
  name: OrderName;
  latest: EssayOrder | null;
  /** Lets each watcher look at `latest`. */
  wake: Set<() => void>;
  /** Resolves when `latest` is up to date; null: it is not being read. */
  reading: Promise<void> | null;
  /** Whether it has changed since the last reading began. */
  isStale: boolean;
}

/**
 * Lets any number of watchers see the latest state of an order. Each of them holds one state at most: one that reads slowly misses
 * states, and delays no others.
 */
export class OrderWatch {
  readonly #read: (order: OrderName) => Promise<EssayOrder | null>;
  readonly #watched = new Map<string, Watched>();
  /** Thousands of watchers see a change, so other requests are answered meanwhile. */
  readonly #inTimeSlice = createTimeSlices(sliceMs);
  #isClosed = false;

  constructor(read: (order: OrderName) => Promise<EssayOrder | null>) {
    this.#read = read;
  }

  /** Ends when the order has ended, or with the signal. @throws StoreError if the order cannot be read at first */
  async watch(order: OrderName, signal: Signal): Promise<AsyncGenerator<EssayOrder | null>> {
    const latest = this.#watched.get(toRecordKey(order))?.latest;
    return this.#follow(order, signal, latest === undefined ? await this.#read(order) : latest);
  }

  /** Reads all watched orders: those of other processes change without notice. @throws StoreError */
  async refreshAll(): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ name }) => this.refresh(name)));
  }

  /** One reading at a time: their results must not overtake each other, and a text that grows is read at the speed of the store. */
  async refresh(name: OrderName): Promise<void> {
    const entry = this.#watched.get(toRecordKey(name));
    if (entry === undefined) return;
    entry.isStale = true;
    entry.reading ??= this.#readLatest(entry).finally(() => {
      entry.reading = null;
    });
    await entry.reading;
  }

  /** Ends all watches. */
  close(): void {
    this.#isClosed = true;
    for (const { wake } of this.#watched.values()) for (const wakeUp of wake) wakeUp();
  }

  async *#follow(name: OrderName, signal: Signal, first: EssayOrder | null): AsyncGenerator<EssayOrder | null> {
    const key = toRecordKey(name);
    const known = this.#watched.get(key);
    const entry = known ?? { name, latest: first, wake: new Set(), reading: null, isStale: false };
    let wakeUp = () => {};
    const onWake = () => wakeUp();
    entry.wake.add(onWake);
    this.#watched.set(key, entry);
    // It may have changed since it was read; later changes are noticed.
    if (known === undefined) void this.refresh(name).catch(() => {});
    signal.addEventListener('abort', onWake);
    try {
      let shown: EssayOrder | null | undefined;
      while (!signal.aborted && !this.#isClosed) {
        if (entry.latest === shown) {
          await new Promise<void>((resolve) => {
            wakeUp = resolve;
          });
          continue;
        }
        shown = entry.latest;
        yield shown;
        if (shown === null || hasOrderEnded(shown.state)) return;
      }
    } finally {
      signal.removeEventListener('abort', onWake);
      entry.wake.delete(onWake);
      if (entry.wake.size === 0) this.#watched.delete(key);
    }
  }

  async #readLatest(entry: Watched): Promise<void> {
    while (entry.isStale) {
      entry.isStale = false;
      const latest = await this.#read(entry.name);
      if (isSame(entry.latest, latest)) continue;
      entry.latest = latest;
      for (const wakeUp of [...entry.wake]) await this.#inTimeSlice(wakeUp);
    }
  }
}

function hasOrderEnded({ kind }: EssayOrderState): boolean {
  return kind !== 'queued' && kind !== 'writing';
}

function isSame(one: EssayOrder | null, other: EssayOrder | null): boolean {
  if (one === null || other === null) return one === other;
  const [first, second] = [one.state, other.state];
  if (first.kind === 'queued' && second.kind === 'queued') return first.position === second.position;
  if (first.kind === 'writing' && second.kind === 'writing') return first.textSoFar === second.textSoFar;
  return first.kind === second.kind && !hasOrderEnded(second);
}

/** In milliseconds: how long watchers may delay other requests. */
const sliceMs = 4;
