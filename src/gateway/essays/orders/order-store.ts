import * as z from 'zod';
import { type Store, StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import { type Essay, essaySchema } from '../port.ts';
import {
  hash,
  nameOf,
  type OrderEvent,
  type OrderName,
  type OrderRecord,
  parseStored,
  readRecord,
  recordKeyOf,
  toRecordKey,
  transition,
  writeRecord,
} from './order.ts';

/** What is stored of an order. */
export interface Stored {
  text: string | null;
  record: OrderRecord | null;
}

/** Stored orders, and their essays. Methods throw StoreError, with the failure `corrupt` for what is damaged or of a later version. */
export class OrderStore {
  readonly #store: Store;
  readonly #expiry: { expiresInMs: number };
  readonly #events: Pick<Events, 'essayOrderUnreadable'>;

  /** @param keepMs how long orders and essays are stored */
  constructor(store: Store, keepMs: number, events: Pick<Events, 'essayOrderUnreadable'>) {
    this.#store = store;
    this.#expiry = { expiresInMs: keepMs };
    this.#events = events;
  }

  async read(name: OrderName): Promise<Stored> {
    const text = await this.#store.get(toRecordKey(name));
    return { text, record: readRecord(text) };
  }

  /**
   * Applies an event to an order, across all processes. If it fails, it may have taken effect.
   * @param seen what is stored, as far as is known @returns what is stored then, and whether this call has changed it
   */
  async change(name: OrderName, event: OrderEvent, seen?: Stored): Promise<Stored & { isChanged: boolean }> {
    const key = toRecordKey(name);
    let stored = seen ?? (await this.read(name));
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const next = transition(stored.record, event);
      if (next === stored.record) return { ...stored, isChanged: false };
      const text = next && writeRecord(next);
      if (await this.#store.replace(key, stored.text, text, this.#expiry))
        return { text, record: next, isChanged: true };
      stored = await this.read(name);
    }
    throw new StoreError('other processes keep changing the order');
  }

  /** Lets the essay be found by its id: with its order, or by itself if it has none. */
  async writeEssay(essay: Essay, callerId: string, orderKey: string | null): Promise<void> {
    const entry = orderKey === null ? { version: 1, essay } : { version: 2, orderKey };
    await this.#store.set(toEssayKey(essay.id, callerId), JSON.stringify(entry), this.#expiry);
  }

  async readEssay(essayId: string, callerId: string): Promise<Essay | null> {
    const entry = parseStored(essayEntry, await this.#store.get(toEssayKey(essayId, callerId)));
    if (entry === null) return null;
    if ('essay' in entry) return entry.essay;
    const record = readRecord(await this.#store.get(entry.orderKey));
    return record?.state.kind === 'finished' && record.state.essay.id === essayId ? record.state.essay : null;
  }

  /** Deletes an order that was seen to have ended, with its essay. False if it has changed since. */
  async erase(seen: OrderRecord): Promise<boolean> {
    const { caller, listed, state } = seen;
    const { text, record } = await this.read(nameOf(seen));
    if (record?.run !== seen.run || record.state.kind !== state.kind) return false;
    if (!(await this.#store.replace(recordKeyOf(seen), text, null, this.#expiry))) return false;
    await Promise.all([
      state.kind === 'finished' && this.#store.delete(toEssayKey(state.essay.id, caller.id)),
      listed !== null && this.#store.delete(toEntryKey(caller.id, listed)),
      this.#store.delete(toTextKey(seen)),
    ]);
    return true;
  }

  /** Adds an order to the list of its caller, which only grows at its end. @returns the number of its entry, from 1 */
  async list({ id, callerId }: OrderName): Promise<number> {
    const { sum: number } = await this.#store.add(toListKey(callerId), 1, counterExpiry);
    await this.#store.set(toEntryKey(callerId, number), id, this.#expiry);
    return number;
  }

  /** Number of the last entry of a caller's list; 0: there was none. */
  async lastNumber(callerId: string): Promise<number> {
    return (await this.#store.add(toListKey(callerId), 0, counterExpiry)).sum;
  }

  /** The id in an entry; null if it is missing or damaged. */
  readEntry(callerId: string, number: number): Promise<string | null> {
    return this.#store.get(toEntryKey(callerId, number)).catch(this.skipUnreadable);
  }

  /** For an entry or a record that is damaged or of a later version: it must not hide others. @throws other errors */
  skipUnreadable = (error: unknown): null => {
    if (!(error instanceof StoreError) || error.failure !== 'corrupt') throw error;
    this.#events.essayOrderUnreadable();
    return null;
  };

  /** The text so far of an order that another process has sent. */
  async readTextSoFar(record: OrderRecord): Promise<string> {
    return parseStored(writtenText, await this.#store.get(toTextKey(record)))?.textSoFar ?? '';
  }

  async writeTextSoFar(record: OrderRecord, textSoFar: string): Promise<void> {
    await this.#store.set(toTextKey(record), JSON.stringify({ textSoFar }), { expiresInMs: textExpiresInMs });
  }
}

/** Where the essay with this id is stored, or the key of its order. */
export function toEssayKey(id: string, callerId: string): string {
  return `essay:${hash([callerId, id])}`;
}

function toListKey(callerId: string): string {
  return `essay-jobs:${hash([callerId])}`;
}

function toEntryKey(callerId: string, number: number): string {
  return `${toListKey(callerId)}:${number}`;
}

/** Under the id of a run, so that it does not show the text of another one. */
function toTextKey({ run, caller }: OrderRecord): string {
  return `essay-text:${hash([caller.id, run])}`;
}

/** Longer than the longest time limit of an essay. */
const textExpiresInMs = 3_600_000;
/** A century: numbers are never used again. */
export const counterExpiry = { expiresInMs: 100 * 365 * 86_400_000 };
/** An order is changed by its process, and now and then by its client. */
const maxAttempts = 20;

const writtenText = z.object({ textSoFar: z.string() });
const essayEntry = z.union([
  z.object({ version: z.literal(1), essay: essaySchema }),
  z.object({ version: z.literal(2), orderKey: z.string() }),
]);
