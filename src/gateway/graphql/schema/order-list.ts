import { setImmediate } from 'node:timers/promises';
import type { EssayOrder, EssayOrderState, Essays } from '../../essays/port.ts';

export interface OrderListing {
  first: number;
  /** Number of the entry before the page; null: from the newest. */
  after: number | null;
  /** Only orders in this state. */
  state: EssayOrderState['kind'] | null;
}

export interface OrderPage {
  /** With the number of their entry in the caller's list. Fewer than were asked for if no more entries may be read. */
  entries: { order: EssayOrder; number: number }[];
  hasNext: boolean;
  /** Number of the entry at which the page ends; null: it is empty, and the last one. */
  end: number | null;
}

/** Null if no entry of the page may be read any more. @throws StoreError */
export type ListOrders = (listing: OrderListing) => Promise<OrderPage | null>;

interface OrderListOptions {
  essays: Pick<Essays, 'lastEntry' | 'findListed'>;
  callerId: string;
  /** Counts entries before they are read, and bytes after; false if no more may be read. */
  spend: (entries: number, bytes: number) => boolean;
}

/** The list of a caller for one request: whatever its pages have in common is read once. */
export function createOrderList({ essays, callerId, spend }: OrderListOptions): ListOrders {
  let reading: Promise<number> | undefined;
  const chunks = new Map<number, Promise<(EssayOrder | null)[] | null>>();
  let lastChunk: Promise<unknown> = Promise.resolve();

  return async ({ first, after, state }: OrderListing): Promise<OrderPage | null> => {
    reading ??= essays.lastEntry(callerId);
    const newest = await reading;
    const start = after === null ? newest : Math.min(newest, after - 1);
    const entries: OrderPage['entries'] = [];
    let chunk: (EssayOrder | null)[] | null = null;
    let number = start;
    for (let missing = 0; number > 0 && entries.length <= first; number -= 1) {
      if (chunk === null || number % chunkSize === 0) chunk = await openChunk(number, newest);
      if (chunk === null) break;
      const order = chunk[(number - 1) % chunkSize] ?? null;
      missing = order === null ? missing + 1 : 0;
      if (missing === maxMissing) number = 1;
      if (order && (state === null || order.state.kind === state)) entries.push({ order, number });
    }
    if (number === start && number > 0) return null;
    const page = entries.slice(0, first);
    const end = page.at(-1)?.number ?? null;
    if (entries.length > first) return { entries: page, hasNext: true, end };
    return { entries: page, hasNext: number > 0, end: number > 0 ? number + 1 : end };
  };

  /** One chunk at a time, and with a pause: the embedded store reads without one. Null: it may not be read. */
  function openChunk(number: number, newest: number): Promise<(EssayOrder | null)[] | null> {
    const from = number - ((number - 1) % chunkSize);
    const opened = chunks.get(from);
    if (opened) return opened;
    const numbers = Array.from({ length: Math.min(chunkSize, newest - from + 1) }, (_, index) => from + index);
    const chunk = lastChunk.then(() =>
      spend(numbers.length, 0) ? Promise.all(numbers.map((each) => essays.findListed(each, callerId))) : null,
    );
    chunks.set(from, chunk);
    lastChunk = chunk
      .then((read) => {
        for (const order of read ?? []) spend(0, order?.bytes ?? 0);
        return setImmediate();
      })
      .catch(() => {});
    return chunk;
  }
}

/** Entries that are read at a time. Chunks begin at the same entries for all pages, so that pages have them in common. */
const chunkSize = 10;
/** So many expired or deleted entries in a row are the end of a list. */
const maxMissing = 1_000;
