import { StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Essay } from '../port.ts';
import {
  isSameOrder,
  nameOf,
  type OrderEvent,
  type OrderName,
  type OrderRecord,
  recordKeyOf,
  toRecordKey,
} from './order.ts';
import type { OrderStore, Stored } from './order-store.ts';

/** How an order of this process has ended, until that is stored. */
export interface End {
  /** As this process knows it: sent, or queued. */
  own: OrderRecord;
  /** As it has ended. If another run has stored an essay before, it is with that one. Null: there is none, as before. */
  record: OrderRecord | null;
  event: Extract<OrderEvent, { kind: 'ended' | 'unsent' }>;
  essay: Essay | null;
  /** What is stored of it, as far as is known. */
  seen?: Stored;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed: boolean;
}

interface UnwrittenEndsOptions {
  records: Pick<OrderStore, 'change' | 'writeEssay'>;
  /** An end was written that the store had not accepted before. */
  onWritten: (own: OrderRecord) => void;
  events: Pick<Events, 'essayWriteBuffered' | 'essayLost'>;
}

/** Writes how orders end. What the store does not accept is kept in memory, and written again. */
export class UnwrittenEnds {
  readonly #options: UnwrittenEndsOptions;
  /** Those that the store has not accepted, by the key of the order. */
  readonly #ends = new Map<string, End>();
  readonly #writing = new Map<End, Promise<unknown>>();

  constructor(options: UnwrittenEndsOptions) {
    this.#options = options;
  }

  /** Resolves when it was tried to write it. */
  async add(end: End): Promise<void> {
    const failure = await this.#tryToWrite(end);
    if (failure !== null) this.#keep(end, failure);
  }

  /** An end that the store has not accepted. */
  find(name: OrderName): End | undefined {
    return this.#ends.get(toRecordKey(name));
  }

  findEssay(essayId: string, callerId: string): Essay | null {
    for (const { essay, own } of this.#ends.values())
      if (essay?.id === essayId && own.caller.id === callerId) return essay;
    return null;
  }

  get isEmpty(): boolean {
    return this.#ends.size === 0;
  }

  /** Tries to write all of them. */
  async write(): Promise<void> {
    await Promise.all([...this.#ends.values()].map((end) => this.writeOne(end)));
  }

  /** @returns whether it is written */
  async writeOne(end: End): Promise<boolean> {
    const failure = await this.#tryToWrite(end);
    if (failure !== null) return false;
    if (this.#ends.get(recordKeyOf(end.own)) === end) this.#ends.delete(recordKeyOf(end.own));
    this.#options.onWritten(end.own);
    return true;
  }

  /** Reports each essay as lost. */
  discard(): void {
    for (const { essay } of this.#ends.values())
      if (essay !== null) this.#options.events.essayLost('the store failed until shutdown');
    this.#ends.clear();
  }

  /** One try at a time. @returns why it failed; null: it is written */
  #tryToWrite(end: End): Promise<unknown> {
    const writing =
      this.#writing.get(end) ??
      this.#write(end)
        .then(
          () => null,
          (error) => error,
        )
        .finally(() => this.#writing.delete(end));
    this.#writing.set(end, writing);
    return writing;
  }

  async #write(end: End): Promise<void> {
    const { own, event, essay, seen, isKeyed } = end;
    const { records, events } = this.#options;
    if (essay !== null) await records.writeEssay(essay, own.caller.id, isKeyed ? recordKeyOf(own) : null);
    if (!isKeyed) return;
    delete end.seen;
    const { record } = await records.change(nameOf(own), event, seen);
    const isOther = record !== null && record.run !== own.run && !isSameOrder(record, own);
    if (essay !== null && isOther) await records.writeEssay(essay, own.caller.id, null);
    else if (record?.state.kind === 'finished') {
      end.record = record;
      if (essay !== null && record.state.essay.id !== essay.id)
        events.essayLost('another process stored an essay of the same order first');
    }
  }

  /** Ends without an essay never replace one. */
  #keep(end: End, error: unknown): void {
    const { events } = this.#options;
    const reason = error instanceof StoreError ? error.reason : 'unusable';
    const hasEssay = end.essay !== null;
    const others = [...this.#ends.values()].filter(({ essay }) => (essay !== null) === hasEssay);
    this.#ends.set(recordKeyOf(end.own), end);
    const [oldest] = others;
    if (hasEssay && !oldest) events.essayWriteBuffered(reason);
    if (!oldest || others.length < maxKept) return;
    if (hasEssay) events.essayLost(reason);
    this.#ends.delete(recordKeyOf(oldest.own));
  }
}

/** Number of essays, of about 15 kB each, and of other ends. */
const maxKept = 2_000;
