import { randomUUID } from 'node:crypto';
import { AbortableSignal, type Signal } from '../../../base/async/signal.ts';
import { createRequestContext, limitCalls, type RequestContext, type ReserveCall } from '../../request-context.ts';
import { StoreError } from '../../stores/store.ts';
import { type Events, ignore } from '../../telemetry/events.ts';
import type { EssayResult, EssaySender, EssaySlot, EssayStep, OrderCaller } from '../port.ts';
import {
  cancelledFailure,
  type OrderRecord,
  outcomes,
  recordKeyOf,
  unexpectedFailure,
  unexpectedlyUnsent,
  unknownOutcome,
  unsafeOrder,
  withdrawnFailure,
} from './order.ts';
import type { End, OrderStore, Stored } from './order-store.ts';

export interface RunParts {
  sender: EssaySender;
  records: OrderStore;
  /** Whether a started order that was sent is cancelled as well. Its essay is paid for and lost. */
  cancelsSent: boolean;
  /** Counts a paid call in the budget of the caller; null: the caller has none. */
  reserveCallOf: (caller: OrderCaller) => ReserveCall | null;
  /** Whether the caller may not order any more. */
  isWithdrawn: (callerId: string, scope: 'essays') => boolean;
  /** An order is shown differently from now on. */
  onChange: (key: string) => void;
  onEnded: (run: OrderRun) => void;
  events: Pick<Events, 'essayOrdered' | 'essayRejectedWithoutStore' | 'unexpectedError'>;
}

export interface RunOptions {
  /** The order as this process knows it, and what is stored of it. */
  record: OrderRecord;
  seen: Stored;
  /** The request that waits for it; null: it was started. */
  request: RequestContext | null;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed?: boolean;
}

/** One order in the process that sends it: it is stored as sent, sent, and its end is stored before it is shown. */
export class OrderRun {
  readonly #parts: RunParts;
  readonly #id = randomUUID();
  readonly #isKeyed: boolean;
  readonly key: string;
  record: OrderRecord;
  /** What it was before it was recorded as sent. */
  readonly #before: OrderRecord | null;
  /** What is stored of it; undefined: that is not known. */
  #seen: Stored | undefined;
  /** `waiting`: for its turn. `begun`: it may be sent at any time. `sent`: it must be completed. */
  stage: 'waiting' | 'begun' | 'sent' = 'waiting';
  /** Whether it may be recorded as sent, although it was not sent. */
  #isMarked = false;
  /** Its result, when that was stored; null: what is stored counts. */
  readonly ended: Promise<EssayResult | null>;
  readonly #signal = new AbortableSignal();
  readonly #turn: Promise<void>;
  #takeTurn = () => {};
  #clients = 0;
  /** Whether it ends when its last client leaves. Not from when it is recorded as sent, nor if it was started. */
  needsClients: boolean;
  #textShownAt = 0;
  /** Calls to the service, with retries. */
  calls = 0;

  constructor(parts: RunParts, { record, seen, request, isKeyed = true }: RunOptions) {
    this.#parts = parts;
    this.key = recordKeyOf(record);
    this.record = record;
    this.#before = seen.record;
    this.#seen = seen;
    this.#isKeyed = isKeyed;
    this.needsClients = request !== null;
    this.#turn = new Promise((resolve) => {
      this.#takeTurn = resolve;
    });
    this.ended = this.#perform(request).catch((error) => this.#endBy(error));
    // Clients learn of a fault from `wait`; there may be none.
    this.ended.catch(ignore);
  }

  /** Its turn has come. */
  begin(): void {
    if (this.stage === 'waiting') this.stage = 'begun';
    this.#takeTurn();
  }

  /** Ends it before it is sent: another process may send it. */
  leave(): void {
    this.#abort(leftToOthers);
  }

  /** Ends it after it was stored as cancelled. */
  async cancel(): Promise<void> {
    this.#abort(cancelled);
    await this.ended;
  }

  /** Waits for the result. Rejects with the reason of the signal when this client leaves. */
  async wait(signal: Signal): Promise<EssayResult | null> {
    this.#clients += 1;
    try {
      return await orAbort(this.ended, signal);
    } finally {
      this.#clients -= 1;
      if (signal.aborted && this.#clients === 0 && this.needsClients) this.#abort(signal.reason);
    }
  }

  /** Shows other processes the text so far, and sees whether it was cancelled there. @throws StoreError */
  async synchronize(): Promise<void> {
    const { records, isWithdrawn, cancelsSent } = this.#parts;
    const { record, stage } = this;
    if ((stage === 'waiting' || stage === 'begun') && isWithdrawn(record.caller.id, 'essays')) this.#abort(withdrawn);
    if (stage !== 'sent' || record.state.kind !== 'sent') return;
    const { textSoFar } = record.state;
    const seen = cancelsSent && !record.isAwaited ? undefined : this.#seen;
    const stored = await records.change(this.key, { kind: 'text-shown', run: this.#id, textSoFar }, seen);
    if (stored.record?.run !== this.#id) return;
    if (stored.record.state.kind === 'cancelled') this.#abort(cancelled);
    else this.#seen = stored;
  }

  async #perform(request: RequestContext | null): Promise<EssayResult | null> {
    const { sender, records, reserveCallOf } = this.#parts;
    await this.#turn;
    this.#throwIfStopped();
    const { id, order, caller, isSentOnce = false } = this.record;
    // A store that fails is noticed before a slot of the service is taken.
    if (this.#isKeyed) await records.owner.prove();
    const limit = (reserve: ReserveCall | null) => (isSentOnce ? limitCalls({ left: 1 }, reserve) : reserve);
    const context = request ?? createRequestContext(this.#signal, caller.id, limit(reserveCallOf(caller)));
    const origin = { ...context.origin, caller: caller.name, orderId: id };
    const ordered = { ...context, signal: this.#signal, origin };
    let step = await sender.reserve(order, ordered, (textSoFar) => this.#showText(textSoFar));
    while (step.kind === 'slot') step = await this.#send(step);
    return this.#end(step);
  }

  /** Stores it as sent, and sends it once. */
  async #send(slot: EssaySlot): Promise<EssayStep> {
    try {
      if (this.#isKeyed) await this.#markSent();
      this.#throwIfStopped();
      if (!slot.isOpen()) return slot.release();
      // The process may have been suspended since, and have been taken for dead.
      if (this.#isKeyed && !this.#parts.records.owner.isProven())
        throw new StoreError('the order was recorded too late');
    } catch (error) {
      slot.release();
      throw error;
    }
    this.needsClients = false;
    this.stage = 'sent';
    this.calls += 1;
    return slot.send();
  }

  /** Stores it as sent by this process, with its entry in the list. From then on it is completed. */
  async #markSent(): Promise<void> {
    const { records } = this.#parts;
    const { record } = this;
    const drawn = record.listed ?? records.drawNumber(record.caller.id).catch(() => null);
    const [listed] = await Promise.all([drawn, records.owner.prove()]);
    // A retry.
    if (record.state.kind === 'sent') return;
    this.#throwIfStopped();
    this.needsClients = false;
    this.#isMarked = true;
    const next = { ...record, listed, run: this.#id, state: { kind: 'sent', owner: records.owner.id } as const };
    const seen = this.#seen;
    this.#seen = undefined;
    const stored = await records.change(this.key, { kind: 'sending', before: this.#before, next }, seen);
    this.#isMarked = stored.record?.run === this.#id;
    if (stored.record === null || !this.#isMarked) throw moved;
    this.#seen = stored;
    this.record = stored.record;
  }

  #throwIfStopped(): void {
    if (this.#parts.isWithdrawn(this.record.caller.id, 'essays')) this.#signal.abort(withdrawn);
    this.#signal.throwIfAborted();
  }

  #showText(textSoFar: string): void {
    const { state } = this.record;
    if (state.kind === 'sent') this.record = { ...this.record, state: { ...state, textSoFar } };
    // Later pieces are seen when all watched orders are read again.
    if (performance.now() - this.#textShownAt < showTextEveryMs) return;
    this.#textShownAt = performance.now();
    this.#parts.onChange(this.key);
  }

  #endBy(error: unknown): Promise<EssayResult | null> | EssayResult | null {
    const { events, onEnded } = this.#parts;
    const { isAwaited, id } = this.record;
    const isSent = this.stage === 'sent';
    const reason = this.#signal.aborted ? this.#signal.reason : error;
    if (reason === moved || reason === cancelled) {
      onEnded(this);
      return reason === cancelled && isSent ? cancelledFailure : null;
    }
    if (reason === withdrawn) return this.#end(withdrawnFailure);
    if (this.#signal.aborted) return this.#end(null);
    if (error instanceof StoreError) {
      if (isSent) return this.#end(null, unknownOutcome);
      events.essayRejectedWithoutStore();
      // A started order was accepted: it remains queued, and the next sweep finds it.
      return this.#end(null, isAwaited ? unsafeOrder : null);
    }
    events.unexpectedError(error, { orderId: id });
    return this.#end(isSent ? unexpectedFailure : unexpectedlyUnsent);
  }

  /**
   * Stores how it has ended, now or else later.
   * @param ended null: its outcome is unknown, or, if it was not sent, it is as it was before
   * @returns the result: an essay that another run has stored before is not replaced
   */
  async #end(ended: EssayResult | null, shown = ended): Promise<EssayResult | null> {
    const { records, events, onEnded } = this.#parts;
    const isSent = this.stage === 'sent';
    const isStored = isSent || this.#isMarked || (!this.record.isAwaited && ended !== null);
    const seen = this.#seen;
    this.#seen = undefined;
    const record = isStored ? await records.end(this.#toEnd(ended), seen) : null;
    onEnded(this);
    const result = record?.state.kind === 'finished' ? record.state.essay : shown;
    if (result === null) return null;
    events.essayOrdered(result.kind === 'essay' && ended?.kind !== 'essay' ? 'from_key' : outcomes[result.kind]);
    const isLost = result.kind === 'essay' && record?.state.kind === 'cancelled';
    return isLost ? { ...result, isStored: false } : result;
  }

  #toEnd(ended: EssayResult | null): End {
    const { calls, stage } = this;
    const own = { ...this.record, run: this.#id };
    const essay = ended?.kind === 'essay' ? ended : null;
    const failure = ended?.kind === 'essay' ? null : ended;
    const state = essay ? { kind: 'finished' as const, essay } : { kind: 'failed' as const, failure };
    const unsent = { run: own.run, before: this.#before, failure: own.isAwaited ? null : failure };
    const event =
      stage === 'sent' ? { kind: 'ended' as const, own, state, calls } : { kind: 'unsent' as const, ...unsent, calls };
    return { own, event, essay, isKeyed: this.#isKeyed };
  }

  #abort(reason: unknown): void {
    this.needsClients = false;
    this.#signal.abort(reason);
    this.#takeTurn();
  }
}

/** The result of the work; rejects with the reason of the signal as soon as it aborts. */
export function orAbort<Result>(work: Promise<Result>, signal: Signal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
    work.finally(() => signal.removeEventListener('abort', leave)).then(resolve, reject);
  });
}

/** A model writes dozens of pieces a second. */
const showTextEveryMs = 250;

const leftToOthers = new Error('Another process sends the order.');
const moved = new Error('Another run decides about the order.');
const cancelled = new Error('The order was cancelled.');
const withdrawn = new Error('The API key of the caller was withdrawn.');
