import { setImmediate } from 'node:timers/promises';
import type { EssayOrder, ListOrders, OrderListing, OrderPage } from '../port.ts';

interface OrderListOptions {
  /** The numbers of the entries of a caller, from 1. */
  lastNumber: () => Promise<number>;
  /** The order of an entry; null if it is missing. */
  readOrder: (number: number) => Promise<EssayOrder | null>;
  /** Counts entries before they are read, and bytes after; false if no more may be read. */
  spend: (entries: number, bytes: number) => boolean;
}

/** The orders of some entries, the first one first. Null: they may not be read. */
type Chunk = { number: number; order: EssayOrder | null }[] | null;

/** The list of a caller for one request: whatever its pages have in common is read once. */
export function createOrderList({ lastNumber, readOrder, spend }: OrderListOptions): ListOrders {
  let last: Promise<number> | undefined;
  /** By the number of their last entry. */
  const chunks = new Map<number, Promise<Chunk>>();
  let lastChunk: Promise<unknown> = Promise.resolve();

  return async ({ first, after, state }: OrderListing): Promise<OrderPage | null> => {
    last ??= lastNumber();
    const newest = await last;
    const entries: OrderPage['entries'] = [];
    const start = after === null ? newest : Math.min(newest, after - 1);
    let to = start;
    let missing = 0;
    while (to > 0 && entries.length <= first && missing < maxMissing) {
      const chunk = await openChunk(to, newest);
      if (chunk === null) break;
      for (const { number, order } of chunk.toReversed()) {
        if (number > to) continue;
        missing = order === null ? missing + 1 : 0;
        if (order && (state === null || order.state.kind === state)) entries.push({ order, number });
      }
      to = beginOfChunk(to) - 1;
    }
    if (to === start && to > 0) return null;
    const page = entries.slice(0, first);
    if (entries.length > first) return { entries: page, hasNext: true, end: page.at(-1)?.number ?? null };
    const hasNext = to > 0 && missing < maxMissing;
    return { entries: page, hasNext, end: hasNext ? to + 1 : (page.at(-1)?.number ?? null) };
  };

  /** One chunk at a time, and with a pause: the embedded store reads without one. */
  function openChunk(number: number, newest: number): Promise<Chunk> {
    const from = beginOfChunk(number);
    const to = Math.min(newest, from + chunkSize - 1);
    const chunk = chunks.get(to) ?? lastChunk.then(() => readChunk(from, to));
    if (!chunks.has(to)) lastChunk = chunk.then(() => setImmediate()).catch(() => {});
    chunks.set(to, chunk);
    return chunk;
  }

  async function readChunk(from: number, to: number): Promise<Chunk> {
    if (!spend(to - from + 1, 0)) return null;
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const chunk = await Promise.all(numbers.map(async (number) => ({ number, order: await readOrder(number) })));
    for (const { order } of chunk) spend(0, order?.bytes ?? 0);
    return chunk;
  }
}

/** Entries that are read at a time. Chunks begin at the same entries for all pages, so that pages have them in common. */
const chunkSize = 10;
/** So many expired or deleted entries in a row are the end of a list. */
const maxMissing = 1_000;

function beginOfChunk(number: number): number {
  return number - ((number - 1) % chunkSize);
}
