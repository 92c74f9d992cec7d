import type { EventEmitter } from 'node:events';
import type { Signal } from '../../../base/async/signal.ts';
import { createTimeSlices } from '../../../base/async/time-slices.ts';
import type { EssayOrder, EssayOrderState } from '../port.ts';
import { type OrderName, toRecordKey } from './order.ts';

/** An order with watchers. */
interface Watched {
  name: OrderName;
  latest: EssayOrder | null;
  /** Its watchers, by functions that let them look at `latest`. */
  wake: Set<() => void>;
  /** Resolves when `latest` is up to date; null: it is not being read. */
  reading: Promise<void> | null;
  /** Whether it has changed since the last reading began. */
  isStale: boolean;
}

/**
 * Lets any number of watchers see the latest state of an order. Each of them holds one state at most: one that reads slowly misses
 * states, and delays no others.
 * @param changes emits the key of a record when an order of this process changes
 */
export function createOrderWatch(read: (order: OrderName) => Promise<EssayOrder | null>, changes: EventEmitter) {
  const watched = new Map<string, Watched>();
  /** Thousands of watchers see a change, so other requests are answered meanwhile. */
  const inTimeSlice = createTimeSlices(sliceMs);
  let isClosed = false;

  return {
    watch,
    /** Reads all watched orders: those of other processes change without notice. @throws StoreError */
    refreshAll: async () => void (await Promise.all([...watched.keys()].map(refresh))),
    /** Ends all watches. */
    close(): void {
      isClosed = true;
      for (const { wake } of watched.values()) for (const wakeUp of wake) wakeUp();
    },
  };

  /** Ends when the order has ended, or with the signal. @throws StoreError if the order cannot be read at first */
  async function watch(order: OrderName, signal: Signal): Promise<AsyncGenerator<EssayOrder | null>> {
    const latest = watched.get(toRecordKey(order))?.latest;
    return follow(order, signal, latest === undefined ? await read(order) : latest);
  }

  async function* follow(name: OrderName, signal: Signal, first: EssayOrder | null): AsyncGenerator<EssayOrder | null> {
    const key = toRecordKey(name);
    const known = watched.get(key);
    const entry = known ?? { name, latest: first, wake: new Set(), reading: null, isStale: false };
    let wakeUp = () => {};
    const onWake = () => wakeUp();
    let isWaking = false;
    const onChange = () => {
      if (isWaking) return;
      isWaking = true;
      void inTimeSlice(() => {
        isWaking = false;
        wakeUp();
      });
    };
    watched.set(key, entry);
    if (known === undefined) changes.on(key, () => void refresh(key).catch(() => {}));
    entry.wake.add(onChange);
    signal.addEventListener('abort', onWake);
    try {
      // It may have changed since it was read; later changes are noticed.
      if (known === undefined) void refresh(key).catch(() => {});
      let shown: EssayOrder | null | undefined;
      while (!signal.aborted && !isClosed) {
        const { latest } = entry;
        if (latest !== shown) {
          shown = latest;
          yield latest;
          if (latest === null || hasOrderEnded(latest.state)) return;
          continue;
        }
        await new Promise<void>((resolve) => {
          wakeUp = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', onWake);
      entry.wake.delete(onChange);
      if (entry.wake.size === 0) {
        watched.delete(key);
        changes.removeAllListeners(key);
      }
    }
  }

  /** One reading at a time: their results must not overtake each other, and a text that grows is read at the speed of the store. */
  async function refresh(key: string): Promise<void> {
    const entry = watched.get(key);
    if (entry === undefined) return;
    entry.isStale = true;
    entry.reading ??= readLatest(entry).finally(() => {
      entry.reading = null;
    });
    await entry.reading;
  }

  async function readLatest(entry: Watched): Promise<void> {
    while (entry.isStale) {
      entry.isStale = false;
      const latest = await read(entry.name);
      if (isSame(entry.latest, latest)) continue;
      entry.latest = latest;
      for (const wakeUp of entry.wake) wakeUp();
    }
  }
}

export function hasOrderEnded({ kind }: EssayOrderState): boolean {
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
