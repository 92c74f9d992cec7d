import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { pause } from '../../../base/async/pause.ts';
import { SharedTask } from '../../../base/async/shared-task.ts';
import { GatewayError } from '../../../base/errors.ts';
import { createRequestContext, type RequestContext, type ReserveCall } from '../../request-context.ts';
import { StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Essay, EssayFailure, EssayResult, EssaySender, OrderCaller } from '../port.ts';
import { type EndedState, isEnded, nameOf, type OrderRecord, recordKeyOf, toResult, transition } from './order.ts';
import {
  outcomes,
  unexpectedFailure,
  unexpectedlyUnsent,
  unknownOutcome,
  unsafeOrder,
  withdrawnFailure,
} from './order-failures.ts';
import type { OrderOwner } from './order-owner.ts';
import type { OrderStore, Stored } from './order-store.ts';
import type { End, UnwrittenEnds } from './unwritten-ends.ts';

export interface RunParts {
  sender: EssaySender;
  records: OrderStore;
  owner: OrderOwner;
  ends: UnwrittenEnds;
  /** Whether a started order that was sent is cancelled as well. Its essay is paid for and lost. */
  cancelsSent: boolean;
  /** Counts a paid call in the budget of the caller; null: the caller has none. */
  reserveCallOf: (caller: OrderCaller) => ReserveCall | null;
  /** Whether the caller may not order any more. */
  isWithdrawn: (caller: OrderCaller) => boolean;
  /** Emits the key of a record when an order of this process changes. */
  changes: EventEmitter;
  onEnded: (run: OrderRun) => void;
  /** An order that had ended was sent once more for a client that waits for it. */
  onReplaced: (record: OrderRecord) => void;
  events: Pick<Events, 'essayOrderEnded' | 'unexpectedError' | 'essayOrdered' | 'essayRejectedWithoutStore'>;
}

interface RunOptions {
  /** What is stored of the order. */
  seen: Stored;
  /** The request that waits for it; null: it was started, and waits for its turn. */
  request: RequestContext | null;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed?: boolean;
}

/** Another run decides about the order: what is stored counts. */
export interface Moved {
  kind: 'moved';
}

/** `unsafe`: it cannot be recorded as sent at the moment. */
type Refusal = 'unsafe' | 'moved';

/** One order in the process that sends it: it is stored as sent, sent, and its end is stored before it is shown. */
export class OrderRun {
  readonly #parts: RunParts;
  readonly #id = randomUUID();
  readonly #isKeyed: boolean;
  readonly task: SharedTask<EssayResult | Moved>;
  /** As this process knows it. */
  record: OrderRecord;
  /** What it was before it was recorded as sent. */
  #before: OrderRecord | null;
  /** What is stored of it; undefined: that is not known. */
  #seen: Stored | undefined;
  /** `waiting`: for its turn. `begun`: it may be sent at any time. `sent`: it must be completed. */
  stage: 'waiting' | 'begun' | 'sent' = 'begun';
  /** Whether it was tried to record it as sent. */
  #isMarked = false;
  #marking: Promise<Refusal | null> | null = null;
  #refusal: Refusal | null = null;
  #takeTurn = () => {};
  readonly #turn: Promise<void> | null = null;
  /** The text that was written so far, if the service shows it. */
  textSoFar = '';
  #textShownAt = 0;
  #storedText = '';
  /** Calls to the service, with retries. */
  #calls = 0;

  constructor(parts: RunParts, record: OrderRecord, { seen, request, isKeyed = true }: RunOptions) {
    this.#parts = parts;
    this.record = record;
    this.#before = seen.record;
    this.#seen = seen;
    this.#isKeyed = isKeyed;
    if (request === null) {
      this.stage = 'waiting';
      this.#turn = new Promise((resolve) => {
        this.#takeTurn = resolve;
      });
    }
    // Asynchronously, when the run is known: others must find it.
    this.task = new SharedTask(() => Promise.resolve().then(() => this.#perform(request)));
    if (request === null) this.task.keepAlive();
  }

  get key(): string {
    return recordKeyOf(this.record);
  }

  /** Its turn has come. */
  begin(): void {
    this.stage = 'begun';
    this.#takeTurn();
  }

  /** Its client waits for it, and another one has started it: it continues without them. */
  detach(stored: Stored & { record: OrderRecord }): void {
    this.record = stored.record;
    this.#before = stored.record;
    this.#seen = stored;
    this.task.keepAlive();
  }

  async noticeOthers(): Promise<void> {
    if (this.stage !== 'waiting') return;
    const { record } = await this.#parts.records.read(nameOf(this.record));
    if (this.stage === 'waiting' && record !== null && record.run !== this.record.run) this.leave();
  }

  /** Ends it before it is sent: another process may send it. */
  leave(): void {
    this.#abort(leftToOthers);
  }

  /** Has no effect on an order that was sent and must continue. Resolves when its end is stored. @throws StoreError */
  async cancel(): Promise<void> {
    const { records, cancelsSent } = this.#parts;
    const { signal } = this.task;
    if (!signal.aborted) {
      const { record, isChanged } = await records.change(nameOf(this.record), { kind: 'cancelled', cancelsSent });
      if (record?.state.kind !== 'cancelled') return;
      if (isChanged) this.#report(record.state);
      this.#abort(cancelled);
    }
    await this.task.settled();
  }

  /** Shows other processes the text so far, and sees what they have changed. @throws StoreError */
  async synchronize(): Promise<void> {
    const { records, isWithdrawn, cancelsSent } = this.#parts;
    const { record, textSoFar } = this;
    if (this.stage !== 'sent') {
      if (!record.isAwaited && isWithdrawn(record.caller)) this.#abort(withdrawn);
      return;
    }
    if (!this.#isKeyed) return;
    if (textSoFar !== this.#storedText) {
      await records.writeTextSoFar(record, textSoFar);
      this.#storedText = textSoFar;
    }
    if (record.isAwaited || !cancelsSent) return;
    const { record: stored } = await records.read(nameOf(record));
    // Its end is not awaited: it may take as long as an essay.
    if (stored?.state.kind === 'sent' && stored.state.isCancelRequested) void this.cancel().catch(() => {});
  }

  async #perform(request: RequestContext | null): Promise<EssayResult | Moved> {
    const { sender, reserveCallOf } = this.#parts;
    const { signal } = this.task;
    try {
      await this.#turn;
      signal.throwIfAborted();
      const { id, order, caller } = this.record;
      // A store that fails is noticed before a slot of the service is taken.
      if (this.#isKeyed) await this.#parts.owner.prove();
      const context = request ?? createRequestContext(signal, caller.id, reserveCallOf(caller));
      const origin = { ...context.origin, caller: caller.name, orderId: id };
      const result = await sender.send(
        order,
        { ...context, signal, origin },
        {
          maySend: () => this.#maySend(),
          beforeAttempt: () => this.#beginAttempt(),
          onText: (textSoFar) => this.#showText(textSoFar),
        },
      );
      return await this.#endWithResult(result);
    } catch (error) {
      return this.#endByError(error);
    }
  }

  /** All that an order needs before its call. @throws the signal's reason */
  async #maySend(): Promise<boolean> {
    const { signal } = this.task;
    signal.throwIfAborted();
    if (!this.record.isAwaited && this.#parts.isWithdrawn(this.record.caller)) signal.abort(withdrawn);
    signal.throwIfAborted();
    try {
      this.#marking = this.#isKeyed ? this.#markSent() : null;
      this.#refusal = await this.#marking;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#refusal = 'unsafe';
    }
    if (this.#refusal === null) this.task.keepAlive();
    return this.#refusal === null;
  }

  /** Lists the order, and stores it as sent by this process. From then on it is completed. @throws StoreError or the signal's reason */
  async #markSent(): Promise<Refusal | null> {
    const { records, owner, changes } = this.#parts;
    const { record, task } = this;
    const name = nameOf(record);
    // Before it is sent, so that no order is missing from the list that may be paid for.
    const listed = record.listed ?? (await records.list(name).catch(() => null));
    await owner.prove();
    // A retry.
    if (record.state.kind === 'sent') return null;
    task.signal.throwIfAborted();
    task.keepAlive();
    this.#isMarked = true;
    const state = { kind: 'sent', owner: owner.id, isCancelRequested: false } as const;
    const next = { ...this.record, listed, run: this.#id, state };
    const seen = this.#seen;
    this.#seen = undefined;
    const stored = await records.change(name, { kind: 'sending', before: this.#before, next }, seen);
    this.#isMarked = stored.record?.run === this.#id;
    if (stored.record === null || !this.#isMarked) return 'moved';
    this.#seen = stored;
    this.record = stored.record;
    if (this.#before !== null && isEnded(this.#before)) this.#parts.onReplaced(this.#before);
    changes.emit(this.key);
    return null;
  }

  #beginAttempt(): void {
    this.task.signal.throwIfAborted();
    // The process may have been suspended since, and have been taken for dead.
    if (this.#isKeyed && !this.#parts.owner.isProven()) this.#refusal = 'unsafe';
    if (this.#refusal !== null) throw new Error('The order was not sent in time.');
    this.stage = 'sent';
    this.#calls += 1;
  }

  #showText(textSoFar: string): void {
    this.textSoFar = textSoFar;
    // Later pieces are seen when all watched orders are read again.
    if (performance.now() - this.#textShownAt < showTextEveryMs) return;
    this.#textShownAt = performance.now();
    this.#parts.changes.emit(this.key);
  }

  async #endWithResult(result: EssayResult): Promise<EssayResult | Moved> {
    if (result.kind === 'essay') return this.#endSent({ kind: 'finished', essay: result }, result);
    if (this.stage === 'sent') {
      const failure = this.#refusal === null ? result : null;
      return this.#endSent({ kind: 'failed', failure }, failure ?? unknownOutcome);
    }
    if (this.#refusal === null) return this.#endUnsent(result);
    if (this.#refusal === 'moved') return this.#giveWay();
    this.#parts.events.essayRejectedWithoutStore();
    // A started order was accepted: it remains queued until the store works again.
    if (!this.record.isAwaited) await pause(tryAgainMs, this.task.signal);
    return this.#endUnsent(this.record.isAwaited ? unsafeOrder : null);
  }

  async #endByError(error: unknown): Promise<EssayResult | Moved> {
    // What is being stored must not be stored after its end.
    await this.#marking?.catch(() => {});
    const { record, stage } = this;
    const { aborted, reason } = this.task.signal;
    if (error instanceof StoreError && stage !== 'sent') this.#refusal = 'unsafe';
    if (reason === leftToOthers || (reason === cancelled && stage !== 'sent')) return this.#endUnsent(null);
    if (reason === withdrawn) return this.#endUnsent(withdrawnFailure);
    if (this.#refusal !== null && !aborted)
      return this.#endWithResult(unsafeOrder).catch((error) => this.#endByError(error));
    if (reason === cancelled) {
      await this.#endSent({ kind: 'cancelled', mayHaveBeenPaid: true }, null);
      throw new GatewayError('UPSTREAM_FAILED', cancelled.message, { service: 'essays' });
    }
    if (!record.isAwaited) this.#parts.events.unexpectedError(error, { orderId: record.id });
    if (stage !== 'sent' && !record.isAwaited) return this.#endUnsent(unexpectedlyUnsent);
    // A client that waits for it gets the error.
    if (stage !== 'sent') await this.#endUnsent(null);
    else if (!record.isAwaited) return this.#endSent({ kind: 'failed', failure: unexpectedFailure }, unexpectedFailure);
    else await this.#endSent({ kind: 'failed', failure: null }, null);
    throw error;
  }

  /** @param result for its clients; null: there is none */
  #endSent(state: EndedState, result: EssayResult | null): Promise<EssayResult | Moved> {
    const { record: own } = this;
    return this.#end({ kind: 'ended', own, state }, result);
  }

  /** @param failure for its clients, which ends it if it was started; null: it is as it was before */
  async #endUnsent(failure: EssayFailure | null): Promise<EssayResult | Moved> {
    const { isAwaited } = this.record;
    const isStored = this.#isMarked || (!isAwaited && failure !== null);
    const event = { kind: 'unsent', run: this.#id, before: this.#before, failure: isAwaited ? null : failure } as const;
    if (isStored && this.#isKeyed) return this.#end(event, failure);
    if (failure !== null) this.#parts.events.essayOrdered(outcomes[failure.kind]);
    this.#giveWay();
    return failure ?? moved;
  }

  /** Stores how it ended, now or else later. @returns the result: an essay that another run has stored before is not replaced */
  async #end(event: End['event'], result: EssayResult | null): Promise<EssayResult | Moved> {
    const { events, ends } = this.#parts;
    const essay: Essay | null = result?.kind === 'essay' ? result : null;
    const state = { kind: 'sent', owner: '', isCancelRequested: false } as const;
    const own = { ...this.record, run: this.#id };
    const record = transition(event.kind === 'unsent' ? { ...own, state } : own, event);
    // A cancellation was reported when it was stored.
    if (!own.isAwaited && record && isEnded(record) && record.state.kind !== 'cancelled') this.#report(record.state);
    const end: End = { own, record, event, essay, isKeyed: this.#isKeyed, ...(this.#seen && { seen: this.#seen }) };
    await ends.add(end);
    this.#giveWay();
    const stored = end.record?.state;
    const delivered = stored?.kind === 'finished' ? stored.essay : result;
    if (delivered === null) return moved;
    events.essayOrdered(delivered.kind === 'essay' && essay === null ? 'from_key' : outcomes[delivered.kind]);
    // What is not stored says so.
    const isUnwritten = delivered.kind === 'essay' && ends.find(nameOf(own)) === end;
    return isUnwritten ? { ...delivered, isStored: false } : delivered;
  }

  #report(state: EndedState): void {
    const { id, caller } = this.record;
    const code = findFailureCode(state);
    const ended = { orderId: id, caller: caller.name, state: state.kind, code, upstreamCalls: this.#calls };
    this.#parts.events.essayOrderEnded(ended);
  }

  #giveWay(): Moved {
    this.#parts.onEnded(this);
    this.#parts.changes.emit(this.key);
    return moved;
  }

  #abort(reason: Error): void {
    this.task.signal.abort(reason);
    this.#takeTurn();
  }
}

export function findFailureCode(state: EndedState): string | undefined {
  if (state.kind !== 'failed') return undefined;
  const failure = toResult(state);
  return failure !== null && 'code' in failure ? failure.code : 'BAD_USER_INPUT';
}

const moved: Moved = { kind: 'moved' };
/** After the store has failed. */
const tryAgainMs = 1_000;
/** A model writes dozens of pieces a second. */
const showTextEveryMs = 250;

const leftToOthers = new Error('Another process sends the order.');
const cancelled = new Error('The order was cancelled after it was sent. It may have been paid for.');
const withdrawn = new Error('The API key of the caller was withdrawn.');
