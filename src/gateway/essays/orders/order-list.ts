import { setImmediate } from 'node:timers/promises';
import type { EssayOrder, ListOrders, OrderListing, OrderPage } from '../port.ts';

interface OrderListOptions {
  /** The numbers of the entries of a caller, from 1. */
  lastNumber: () => Promise<number>;
  /** The order of an entry; null if it is missing. */
  readOrder: (number: number) => Promise<EssayOrder | null>;
  /** Counts entries before they are read; false if no more may be read. */
  spend: (entries: number) => boolean;
}

/** The orders of some entries, the first one first. */
type Chunk = Promise<{ number: number; order: EssayOrder | null }[]>;

/** The list of a caller for one request: whatever its pages have in common is read once. */
export function createOrderList({ lastNumber, readOrder, spend }: OrderListOptions): ListOrders {
  let last: Promise<number> | undefined;
  /** By the number of their last entry. Null: it may not be read. */
  const chunks = new Map<number, Chunk | null>();
  let lastChunk: Promise<unknown> = Promise.resolve();

  return async ({ first, after, state }: OrderListing): Promise<OrderPage | null> => {
    last ??= lastNumber();
    const newest = await last;
    const entries: OrderPage['entries'] = [];
    const start = after === null ? newest : Math.min(newest, after - 1);
    let to = start;
    let missing = 0;
    while (to > 0 && entries.length <= first && missing < maxMissing) {
      const chunk = openChunk(to, newest);
      if (chunk === null) break;
      for (const { number, order } of (await chunk).toReversed()) {
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

  function openChunk(number: number, newest: number): Chunk | null {
    const from = beginOfChunk(number);
    const to = Math.min(newest, from + chunkSize - 1);
    const known = chunks.get(to);
    if (known !== undefined) return known;
    const chunk = spend(to - from + 1) ? readNext(from, to) : null;
    chunks.set(to, chunk);
    return chunk;
  }

  /** One chunk at a time, and with a pause: the embedded store reads without one. */
  function readNext(from: number, to: number): Chunk {
    const reading = lastChunk.then(() => {
      const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
      return Promise.all(numbers.map(async (number) => ({ number, order: await readOrder(number) })));
    });
    lastChunk = reading.then(
      () => setImmediate(),
      () => {},
    );
    return reading;
  }
}

/** Entries that are read at a time. Chunks begin at the same entries for all pages, so that pages have them in common. */
const chunkSize = 50;
/** So many expired or deleted entries in a row are the end of a list. */
const maxMissing = 1_000;

function beginOfChunk(number: number): number {
  return number - ((number - 1) % chunkSize);
}
