import type { EventEmitter } from 'node:events';
import type { Events } from '../../telemetry/events.ts';
import type { Essay, EssayOrder, EssayOrderState, EssaySender } from '../port.ts';
import { nameOf, type OrderName, type OrderRecord, recordKeyOf, toRecordKey, transition } from './order.ts';
import { unknownOutcome } from './order-failures.ts';
import type { OrderOwner } from './order-owner.ts';
import { findFailureCode } from './order-run.ts';
import type { OrderRuns } from './order-runs.ts';
import type { OrderStore, Stored } from './order-store.ts';
import type { UnwrittenEnds } from './unwritten-ends.ts';

interface ShownOrdersParts {
  records: OrderStore;
  runs: OrderRuns;
  ends: UnwrittenEnds;
  owner: OrderOwner;
  sender: Pick<EssaySender, 'reparse'>;
  cancelsSent: boolean;
  changes: EventEmitter;
  /** An order was found that was started, and does not run here. */
  onQueued: (stored: Stored & { record: OrderRecord }) => void;
  /** This process has ended a started order of one that has died. */
  onAdopted: () => void;
  events: Pick<Events, 'essayOrderEnded'>;
}

/** Orders as clients see them, wherever they run. */
export class ShownOrders {
  readonly #parts: ShownOrdersParts;

  constructor(parts: ShownOrdersParts) {
    this.#parts = parts;
  }

  async find(name: OrderName, options = {}): Promise<EssayOrder | null> {
    const { record } = await this.read(name, options);
    return record && this.toOrder(record);
  }

  /**
   * The order as it may be shown. One whose owner has died has failed; one that was not sent is queued here.
   * @throws StoreError
   */
  async read(name: OrderName, { reparsesBody = false } = {}): Promise<ShownOrder> {
    const here = this.#parts.runs.find(name);
    // Its end is not shown before it was tried to store it.
    if (here?.record.state.kind === 'sent') return { text: null, record: here.record, isStored: true };
    const end = this.#parts.ends.find(name);
    if (end && end.record !== null) return { text: null, record: end.record, isStored: false };
    const stored = await this.#parts.records.read(name);
    const { record } = stored;
    if (record === null || this.#parts.runs.find(name)?.record.state.kind === 'sent')
      return { ...stored, isStored: true };
    if (record.state.kind === 'sent')
      return { ...(await this.#endDead(stored, record, record.state.owner)), isStored: true };
    if (record.state.kind === 'queued' && !this.#parts.ends.find(name)) this.#parts.onQueued({ ...stored, record });
    return { ...(reparsesBody ? await this.#reparse(stored, record) : stored), isStored: true };
  }

  /** Ends an order that was sent, if its owner has died. */
  async #endDead(stored: Stored, record: OrderRecord, owner: string): Promise<Stored> {
    const name = nameOf(record);
    const isHere = this.#parts.runs.find(name) !== undefined || this.#parts.ends.find(name) !== undefined;
    // One of this process that is not here seemed not to be stored.
    if (isHere || (owner !== this.#parts.owner.id && (await this.#parts.owner.isAlive(owner)))) return stored;
    const changed = await this.#parts.records.change(name, { kind: 'owner-died', run: record.run });
    if (changed.isChanged && !record.isAwaited) {
      const { caller, id } = record;
      const code = findFailureCode({ kind: 'failed', failure: null });
      this.#parts.events.essayOrderEnded({
        orderId: id,
        caller: caller.name,
        state: 'failed',
        code,
        upstreamCalls: 0,
      });
      this.#parts.onAdopted();
    }
    if (changed.isChanged) this.#parts.changes.emit(toRecordKey(name));
    return changed;
  }

  /** A stored body that could not be read may be an essay by the fields that the operator has declared since. */
  async #reparse(stored: Stored, record: OrderRecord): Promise<Stored> {
    const failure = record.state.kind === 'failed' ? record.state.failure : null;
    if (failure?.kind !== 'service-failed' || failure.outcome !== 'unreadable' || failure.rawText === null)
      return stored;
    const essay = this.#parts.sender.reparse(record.order, failure.rawText);
    if (essay === null) return stored;
    await this.#parts.records.writeEssay(essay, record.caller.id, recordKeyOf(record));
    const event = { kind: 'ended', own: record, state: { kind: 'finished', essay } } as const;
    return this.#parts.records.change(nameOf(record), event, stored);
  }

  /** @throws StoreError */
  async toOrder(record: OrderRecord): Promise<EssayOrder> {
    const { idempotencyKey, orderAgain, ...input } = record.order;
    const { cancelsSent } = this.#parts;
    const isCancellable = transition(record, { kind: 'cancelled', cancelsSent }) !== record;
    const state = await this.#stateOf(record);
    return { id: record.id, createdAt: record.createdAt, input, state, isCancellable, bytes: bytesOf(record, state) };
  }

  async #stateOf(record: OrderRecord): Promise<EssayOrderState> {
    const { state } = record;
    if (state.kind === 'queued') return { kind: 'queued', position: this.#parts.runs.positionOf(nameOf(record)) };
    if (state.kind === 'finished') return { kind: 'finished', essayId: state.essay.id };
    if (state.kind === 'failed') return { kind: 'failed', failure: state.failure ?? unknownOutcome };
    if (state.kind === 'cancelled') return state;
    const run = this.#parts.runs.find(nameOf(record));
    return { kind: 'writing', textSoFar: run ? run.textSoFar : await this.#parts.records.readTextSoFar(record) };
  }

  /** Null if this caller has no such essay. One that is not stored says so. @throws StoreError */
  async findEssay(id: string, callerId: string): Promise<Essay | null> {
    const unwritten = this.#parts.ends.findEssay(id, callerId);
    return unwritten ? { ...unwritten, isStored: false } : this.#parts.records.readEssay(id, callerId);
  }

  /** Null for one that cannot be read, and for an earlier entry of an order that was started again. */
  async readListed(number: number, callerId: string): Promise<EssayOrder | null> {
    const { skipUnreadable } = this.#parts.records;
    const id = await this.#parts.records.readEntry(callerId, number);
    const stored = id === null ? null : await this.read({ id, callerId }).catch(skipUnreadable);
    return stored?.record?.listed === number ? this.toOrder(stored.record).catch(skipUnreadable) : null;
  }
}

/** What is stored of an order, or how it has ended here while the store fails. */
export interface ShownOrder extends Stored {
  isStored: boolean;
}

/** Of the texts, which are most of it. */
function bytesOf({ order, state }: OrderRecord, shown: EssayOrderState): number {
  const texts = [order.description, ...order.titles];
  if (state.kind === 'finished') texts.push(state.essay.text);
  if (shown.kind === 'writing') texts.push(shown.textSoFar);
  if (shown.kind === 'failed' && shown.failure.kind === 'service-failed') texts.push(shown.failure.rawText ?? '');
  return 1_000 + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
