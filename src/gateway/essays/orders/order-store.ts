import * as z from 'zod';
import { counterExpiry, OpenList } from '../../stores/open-list.ts';
import { RecordOwner } from '../../stores/record-owner.ts';
import { type ReplaceOptions, type Store, StoreError } from '../../stores/store.ts';
import { type Events, ignore } from '../../telemetry/events.ts';
import { type Essay, essaySchema, type OrderInput } from '../port.ts';
import {
  describeEnd,
  hash,
  isEnded,
  isSameOrder,
  type OrderEvent,
  type OrderRecord,
  parseStored,
  readRecord,
  recordKeyOf,
  transition,
  writeRecord,
} from './order.ts';

/** What is stored of an order. */
export interface Stored {
  text: string | null;
  record: OrderRecord | null;
}

/** How an order has ended in the process that ran it. */
export interface End {
  own: OrderRecord;
  event: Extract<OrderEvent, { kind: 'ended' | 'unsent' }>;
  essay: Essay | null;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed: boolean;
}

export interface OrderStoreOptions {
  store: Store;
  /** How long orders and essays are stored. */
  keepMs: number;
  /** For the stored orders of one caller. */
  maxMegabytes?: number;
  /** An order is shown differently from now on. */
  onChange: (key: string) => void;
  events: Pick<Events, 'essayLost' | 'essayOrderEnded' | 'essayOrderUnreadable' | 'essayWriteBuffered'>;
}

/**
 * Stored orders, with their essays, the lists of callers, and the list of the started orders that have not ended. Methods throw
 * StoreError, with the failure `corrupt` for what is damaged or of a later version.
 */
export class OrderStore {
  /** The started orders that have not ended. */
  readonly open: OpenList<z.infer<typeof openEntry>>;
  /** This process: it owns the orders that it sends. */
  readonly owner: RecordOwner;
  readonly maxMegabytes: number;
  readonly #store: Store;
  readonly #keepMs: number;
  readonly #onChange: OrderStoreOptions['onChange'];
  readonly #events: OrderStoreOptions['events'];
  /** Ends that the store has not accepted, by the keys of their records, with what they will make of these. */
  readonly #unwritten = new Map<string, End & { record: OrderRecord | null }>();
  /** Callers whose last order was refused, because their orders take too many bytes. */
  readonly #full = new Set<string>();

  constructor({ store, keepMs, maxMegabytes = 50, onChange, events }: OrderStoreOptions) {
    this.#store = store;
    this.owner = new RecordOwner(store);
    this.open = new OpenList({ store, key: 'essay-open', parse: (text) => parseStored(openEntry, text) });
    this.#keepMs = keepMs;
    this.maxMegabytes = maxMegabytes;
    this.#onChange = onChange;
    this.#events = events;
  }

  /** @param key of the record */
  async read(key: string): Promise<Stored> {
    const unwritten = this.#unwritten.get(key);
    return unwritten ? { text: null, record: unwritten.record } : this.#read(key);
  }

  async #read(key: string): Promise<Stored> {
    const text = await this.#store.get(key);
    return { text, record: readRecord(text) };
  }

  /**
   * Applies an event to an order, across all processes, and writes with it what leads to it: its entries in lists, and the id of its
   * essay. If it fails, it may have taken effect.
   * @param seen what is stored, as far as is known
   * @param open its number in the list of open orders, when it is started
   * @returns what is stored then, and whether this call has changed it
   */
  async change(key: string, event: OrderEvent, seen?: Stored, open?: number): Promise<Stored & { isChanged: boolean }> {
    let stored = seen ?? (await this.#read(key));
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const next = transition(stored.record, event);
      if (next === stored.record) return { text: stored.text, record: next, isChanged: false };
      const text = next && writeRecord(next);
      const also = next === null ? [] : entriesOf(next, stored.record);
      if (next !== null && open !== undefined) {
        const entry = { id: next.id, callerId: next.caller.id, at: Date.now() };
        also.push({ key: this.open.toEntryKey(open), value: JSON.stringify(entry) });
      }
      if (await this.#store.replace(key, stored.text, text, { expiresInMs: this.#keepMs, also })) {
        this.#report(event, stored.record, next);
        this.#onChange(key);
        return { text, record: next, isChanged: true };
      }
      stored = await this.#read(key);
    }
    throw new StoreError('other processes keep changing the order');
  }

  #report(event: OrderEvent, before: OrderRecord | null, next: OrderRecord | null): void {
    const isAsBefore = event.kind === 'unsent' && event.failure === null;
    if (next === null || isAsBefore) return;
    const calls = 'calls' in event ? event.calls : 0;
    if (isEnded(next) && !next.isAwaited) this.#events.essayOrderEnded(describeEnd(next, next.state, calls));
    const isSentAgain = !isEnded(next) && before !== null && isEnded(before) && !before.isAwaited;
    if (isSentAgain) void this.free(before).catch(ignore);
  }

  /** Stores how an order has ended. If the store fails, that is kept, read as if it were stored, and stored later. @returns the order then */
  async end(end: End, seen?: Stored): Promise<OrderRecord | null> {
    try {
      return await this.#writeEnd(end, seen);
    } catch (error) {
      return this.#keep(end, error instanceof StoreError ? error.reason : 'unusable');
    }
  }

  /** Whether an end of the order is not stored. Then it cannot be sent once more. */
  isUnwritten(key: string): boolean {
    return this.#unwritten.has(key);
  }

  get hasUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  /** Stores the ends that the store has not accepted, of one order or all. */
  async writeEnds(keys: Iterable<string> = this.#unwritten.keys()): Promise<void> {
    const write = async (key: string) => {
      const end = this.#unwritten.get(key);
      if (end === undefined) return;
      await this.#writeEnd(end);
      this.#unwritten.delete(key);
      this.#onChange(key);
    };
    await Promise.allSettled([...keys].map(write));
  }

  /** Reports each essay as lost that could not be stored. */
  discardEnds(): void {
    for (const { essay } of this.#unwritten.values())
      if (essay) this.#events.essayLost('the store failed until shutdown');
    this.#unwritten.clear();
  }

  /** An essay that another run has stored before is not replaced. */
  async #writeEnd({ own, event, essay, isKeyed }: End, seen?: Stored): Promise<OrderRecord | null> {
    const { record } = isKeyed ? await this.change(recordKeyOf(own), event, seen) : { record: null };
    if (essay === null) return record;
    if (record === null || (record.run !== own.run && !isSameOrder(record, own))) {
      await this.#writeEssay(essay, own.caller.id);
      return null;
    }
    if (record.state.kind === 'finished' && record.state.essay.id !== essay.id)
      this.#events.essayLost('another process stored an essay of the same order first');
    return record;
  }

  /** Ends without an essay never replace one. */
  #keep(end: End, reason: string): OrderRecord | null {
    const { own, event, essay } = end;
    const others = [...this.#unwritten].filter(([, other]) => (other.essay === null) === (essay === null));
    const [oldest] = others;
    if (essay !== null && !oldest) this.#events.essayWriteBuffered(reason);
    if (oldest && others.length >= maxUnwritten) {
      if (essay !== null) this.#events.essayLost(reason);
      this.#unwritten.delete(oldest[0]);
    }
    let record = transition({ ...own, state: { kind: 'sent', owner: '' } }, event);
    if (record && essay !== null)
      record = { ...record, state: { kind: 'finished', essay: { ...essay, isStored: false } } };
    this.#unwritten.set(recordKeyOf(own), { ...end, record });
    return record;
  }

  /** Stores an essay whose order has no record. */
  async #writeEssay(essay: Essay, callerId: string): Promise<void> {
    const entry = JSON.stringify({ version: 1, essay });
    await this.#store.set(toEssayKey(essay.id, callerId), entry, { expiresInMs: this.#keepMs });
  }

  async readEssay(essayId: string, callerId: string): Promise<Essay | null> {
    for (const { own, essay } of this.#unwritten.values())
      if (essay?.id === essayId && own.caller.id === callerId) return { ...essay, isStored: false };
    const entry = parseStored(essayEntry, await this.#store.get(toEssayKey(essayId, callerId)));
    if (entry === null) return null;
    if ('essay' in entry) return entry.essay;
    const record = readRecord(await this.#store.get(entry.orderKey));
    return record?.state.kind === 'finished' && record.state.essay.id === essayId ? record.state.essay : null;
  }

  /** Deletes an order that was seen to have ended, with its essay. False if it has changed since. */
  async erase({ text, record }: Stored & { record: OrderRecord }): Promise<boolean> {
    const { caller, listed, state } = record;
    const keys: string[] = [];
    if (this.#unwritten.has(recordKeyOf(record))) return false;
    if (state.kind === 'finished') keys.push(toEssayKey(state.essay.id, caller.id));
    if (listed !== null) keys.push(toEntryKey(caller.id, listed));
    const also = keys.map((key) => ({ key, value: null }));
    const options = { expiresInMs: this.#keepMs, also };
    const isErased = await this.#store.replace(recordKeyOf(record), text, null, options);
    if (isErased && !record.isAwaited) await this.free(record).catch(ignore);
    return isErased;
  }

  /** The number of the next entry in a caller's list, from 1. The entry is written with the record. */
  async drawNumber(callerId: string): Promise<number> {
    return (await this.#store.add(toListKey(callerId), 1, counterExpiry)).sum;
  }

  /**
   * Counts the bytes of an order that is started, by the period in which it is, and draws its numbers in both lists. Null, and nothing is
   * counted: the stored orders of its caller would take too many bytes.
   */
  async admit({ order, caller, createdAt }: OrderRecord): Promise<{ listed: number; open: number } | null> {
    const counts = this.#countsOf(order, caller.id, createdAt);
    const numbers = [toListKey(caller.id), this.open.key].map((key) => ({ key, amount: 1, ...counterExpiry }));
    // Many numbers without an order would end a list, so a caller draws none in vain twice.
    const isFull = this.#full.has(caller.id);
    const sums = await this.#store.addAll(isFull ? counts : [...counts, ...numbers]);
    // Negative, if the store has lost the count of an order that was deleted.
    const bytes = sums.slice(0, counts.length).reduce((total, sum) => total + Math.max(0, sum), 0);
    if (this.#full.size > maxFull) this.#full.clear();
    if (bytes > this.maxMegabytes * 1_000_000) {
      this.#full.add(caller.id);
      await this.free({ order, caller, createdAt });
      return null;
    }
    this.#full.delete(caller.id);
    const [listed = 0, open = 0] = isFull ? await this.#store.addAll(numbers) : sums.slice(counts.length);
    return { listed, open };
  }

  /** Counts an order no more that was deleted, or not stored after all. If it fails, its bytes count until it would have expired. */
  async free({ order, caller, createdAt }: Pick<OrderRecord, 'order' | 'caller' | 'createdAt'>): Promise<void> {
    const [{ key, amount, expiresInMs }] = this.#countsOf(order, caller.id, createdAt);
    await this.#store.add(key, -amount, { expiresInMs });
  }

  /** The bytes of an order for the count of its period, and 0 for those of the earlier ones. */
  #countsOf(order: OrderInput, callerId: string, createdAt: Date) {
    const periodMs = this.#keepMs / periods;
    const latest = Math.floor(createdAt.getTime() / periodMs);
    const count = (age: number, amount: number) => ({
      key: `essay-jobs-bytes:${hash([callerId])}:${latest - age}`,
      amount,
      expiresInMs: this.#keepMs + periodMs,
    });
    const bytes = recordBytes + Buffer.byteLength(JSON.stringify(order));
    return [count(0, bytes), ...Array.from({ length: periods }, (_, index) => count(index + 1, 0))] as const;
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
}

/** What is written with a record, so that it is found. */
function entriesOf(next: OrderRecord, before: OrderRecord | null): NonNullable<ReplaceOptions['also']>[number][] {
  const { id, caller, listed, state } = next;
  const entries = [];
  if (listed !== null && listed !== before?.listed) entries.push({ key: toEntryKey(caller.id, listed), value: id });
  if (state.kind === 'finished') {
    const value = JSON.stringify({ version: 2, orderKey: recordKeyOf(next) });
    entries.push({ key: toEssayKey(state.essay.id, caller.id), value });
  }
  return entries;
}

/** Where the essay with this id is stored, or the key of its order. */
function toEssayKey(id: string, callerId: string): string {
  return `essay:${hash([callerId, id])}`;
}

function toListKey(callerId: string): string {
  return `essay-jobs:${hash([callerId])}`;
}

function toEntryKey(callerId: string, number: number): string {
  return `${toListKey(callerId)}:${number}`;
}

const openEntry = z.object({ id: z.string(), callerId: z.string() });
const essayEntry = z.union([
  z.object({ version: z.literal(1), essay: essaySchema }),
  z.object({ version: z.literal(2), orderKey: z.string() }),
]);

/** An order is changed by its process, and now and then by its client. */
const maxAttempts = 20;
/** Number of essays, of about 15 kB each, and of other ends. */
const maxUnwritten = 2_000;
/** The rest of a record, and its entries in lists. */
const recordBytes = 1_000;
/** Each start reads so many counts. With fewer, the bytes of expired orders are counted for longer. */
const periods = 5;
/** Number of callers that are known to have too many bytes. */
const maxFull = 1_000;
