import type { Store } from '../../stores/store.ts';
import type { OrderInput } from '../port.ts';
import { hash } from './order.ts';

interface StoredBytesOptions {
  store: Store;
  /** How long an order is stored. */
  keepMs: number;
  /** Limit for the stored orders of one caller. */
  maxMegabytes?: number;
}

/**
 * Limits what the started orders of a caller take in the store, across all processes. They are counted by the period in which they
 * were started, and a period is forgotten when its last order has expired. Functions throw StoreError; one that fails, or a crash,
 * leaves the count of its period too high.
 */
export function createStoredBytes({ store, keepMs, maxMegabytes = 50 }: StoredBytesOptions) {
  const periodMs = keepMs / periods;
  const expiry = { expiresInMs: keepMs + periodMs };

  return {
    maxMegabytes,
    /** Counts an order before it is stored; false, and nothing is counted, if the caller would exceed the limit. */
    async take(order: OrderInput, callerId: string, startedAt: Date): Promise<boolean> {
      const latest = periodOf(startedAt);
      const earlier = Array.from({ length: periods }, (_, index) => latest - 1 - index);
      const [sum, ...sums] = await Promise.all([
        add(callerId, latest, sizeOf(order)),
        ...earlier.map((period) => add(callerId, period, 0)),
      ]);
      // Negative, if the store has lost the count of an order that was deleted.
      const bytes = [sum, ...sums].reduce((total, counted) => total + Math.max(0, counted), 0);
      if (bytes <= maxMegabytes * 1_000_000) return true;
      await add(callerId, latest, -sizeOf(order));
      return false;
    },
    /** For an order that was deleted, or not stored after all. */
    async free(order: OrderInput, callerId: string, startedAt: Date): Promise<void> {
      await add(callerId, periodOf(startedAt), -sizeOf(order));
    },
  };

  function periodOf(time: Date): number {
    return Math.floor(time.getTime() / periodMs);
  }

  /** Adding 0 only reads. */
  async function add(callerId: string, period: number, bytes: number): Promise<number> {
    return (await store.add(`essay-jobs-bytes:${hash([callerId])}:${period}`, bytes, expiry)).sum;
  }
}

function sizeOf(order: OrderInput): number {
  return recordBytes + Buffer.byteLength(JSON.stringify(order));
}

/** The rest of a record, and its entry in the list. */
const recordBytes = 1_000;
/** Each start reads so many counts. With fewer, the bytes of expired orders are counted for longer. */
const periods = 5;
