import * as z from 'zod';
import type { Store } from '../../stores/store.ts';
import { type OrderName, parseStored } from './order.ts';
import { counterExpiry } from './order-store.ts';

interface OpenOrdersOptions {
  store: Store;
  /** How long orders are stored. */
  keepMs: number;
  /** Looks at an order. @throws StoreError */
  look: (name: OrderName) => Promise<'open' | 'unknown' | 'ended'>;
  skipUnreadable: (error: unknown) => null;
}

/**
 * The list of started orders that have not ended, for all processes: each looks at it every few seconds, and queues those that were not
 * sent. An order is added before it is stored, and removed by a process that sees that it has ended.
 */
export class OpenOrders {
  readonly #options: OpenOrdersOptions;
  /** All entries before it were removed. */
  #from: number | null = null;
  readonly #entries = new Map<number, Entry>();
  /** Those that were removed behind one that is open. */
  readonly #done = new Set<number>();
  /** When a number was first seen to have no entry: it may be written late. By `performance.now()`. */
  readonly #missing = new Map<number, number>();

  constructor(options: OpenOrdersOptions) {
    this.#options = options;
  }

  /** @throws StoreError */
  async add({ id, callerId }: OrderName): Promise<void> {
    const { store, keepMs } = this.#options;
    const { sum: number } = await store.add(listKey, 1, counterExpiry);
    const entry: Entry = { id, callerId, at: Date.now() };
    await store.set(toEntryKey(number), JSON.stringify(entry), { expiresInMs: keepMs });
  }

  /** Looks at all of them. @throws StoreError */
  async sweep(): Promise<void> {
    const { store } = this.#options;
    const { sum: last } = await store.add(listKey, 0, counterExpiry);
    const stored = Number((await store.get(fromKey).catch(this.#options.skipUnreadable)) ?? 1);
    // The store may have lost the list, which then begins again.
    const from = Math.min(Math.max(this.#from ?? 1, stored), last + 1);
    let firstOpen = last + 1;
    for (let number = from; number <= last; number += chunkSize) {
      const numbers = Array.from({ length: Math.min(chunkSize, last - number + 1) }, (_, index) => number + index);
      const isDone = await Promise.all(numbers.map((each) => this.#done.has(each) || this.#isDone(each)));
      for (const [index, each] of numbers.entries()) {
        if (isDone[index]) this.#done.add(each);
        else firstOpen = Math.min(firstOpen, each);
      }
    }
    for (const number of this.#done) if (number < firstOpen) this.#done.delete(number);
    this.#from = firstOpen;
    if (firstOpen !== stored) await store.set(fromKey, String(firstOpen), counterExpiry);
  }

  /** Whether its order is not open any more, or there is none. */
  async #isDone(number: number): Promise<boolean> {
    const entry = this.#entries.get(number) ?? (await this.#read(number));
    if (entry === null) return this.#isMissing(number);
    this.#entries.set(number, entry);
    const found = await this.#options.look(entry).catch(this.#options.skipUnreadable);
    // Its order is stored after the entry.
    const isPending = found === 'unknown' && Math.abs(Date.now() - entry.at) < graceMs;
    if (found === 'open' || isPending) return false;
    await this.#options.store.delete(toEntryKey(number));
    this.#entries.delete(number);
    return true;
  }

  async #read(number: number): Promise<Entry | null> {
    const { store, skipUnreadable } = this.#options;
    return store
      .get(toEntryKey(number))
      .then((text) => parseStored(entrySchema, text))
      .catch(skipUnreadable);
  }

  #isMissing(number: number): boolean {
    const since = this.#missing.get(number) ?? performance.now();
    const isOver = performance.now() - since >= graceMs;
    if (isOver) this.#missing.delete(number);
    else this.#missing.set(number, since);
    return isOver;
  }
}

type Entry = z.infer<typeof entrySchema>;
const entrySchema = z.object({ id: z.string(), callerId: z.string(), at: z.number() });

const listKey = 'essay-open';
/** Where the list begins. */
const fromKey = 'essay-open-from';
/** Longer than a store takes to answer. */
const graceMs = 30_000;
const chunkSize = 100;

function toEntryKey(number: number): string {
  return `${listKey}:${number}`;
}
