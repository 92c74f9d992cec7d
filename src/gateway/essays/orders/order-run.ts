import { randomUUID } from 'node:crypto';
import { AbortableSignal, type Signal } from '../../../base/async/signal.ts';
import { GatewayError } from '../../../base/errors.ts';
import { createRequestContext, type RequestContext, type ReserveCall } from '../../request-context.ts';
import { StoreError } from '../../stores/store.ts';
import { type Events, ignore } from '../../telemetry/events.ts';
import type { Essay, EssayFailure, EssayResult, EssaySender, OrderCaller } from '../port.ts';
import {
  describeEnd,
  type EndedState,
  isEnded,
  isSameOrder,
  type OrderEvent,
  type OrderRecord,
  recordKeyOf,
  transition,
} from './order.ts';
import {
  outcomes,
  unexpectedFailure,
  unexpectedlyUnsent,
  unknownOutcome,
  unsafeOrder,
  withdrawnFailure,
} from './order-failures.ts';
import type { OrderStore, Stored } from './order-store.ts';

export interface RunParts {
  sender: EssaySender;
  records: OrderStore;
  /** Whether a started order that was sent is cancelled as well. Its essay is paid for and lost. */
  cancelsSent: boolean;
  /** Counts a paid call in the budget of the caller; null: the caller has none. */
  reserveCallOf: (caller: OrderCaller) => ReserveCall | null;
  /** Whether the caller may not order any more. */
  isWithdrawn: (caller: OrderCaller) => boolean;
  /** An order is shown differently from now on. */
  onChange: (key: string) => void;
  /** An order that had ended was sent once more for a client that waits for it. */
  onReplaced: (record: OrderRecord) => void;
  events: Pick<
    Events,
    | 'essayLost'
    | 'essayOrdered'
    | 'essayOrderEnded'
    | 'essayRejectedWithoutStore'
    | 'essayWriteBuffered'
    | 'unexpectedError'
  >;
}

export interface PartsOfRun extends RunParts {
  /** @param failure why the store has not accepted its end; null: nothing is left to write */
  onEnded: (run: OrderRun, failure: unknown) => void;
}

export interface RunOptions {
  /** The order as this process knows it, and what is stored of it. */
  record: OrderRecord;
  seen: Stored;
  /** The request that waits for it; null: it was started, and waits for its turn. */
  request: RequestContext | null;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed?: boolean;
}

/** How an order has ended, until that is stored. */
interface End {
  event: Extract<OrderEvent, { kind: 'ended' | 'unsent' }>;
  /** As it has ended. If another run has stored an essay before, it is with that one. Null: there is none, as before. */
  record: OrderRecord | null;
  essay: Essay | null;
}

/** `unsafe`: it cannot be recorded as sent at the moment. `moved`: another run decides about the order. */
type Refusal = 'unsafe' | 'moved';

/** One order in the process that sends it: it is stored as sent, sent, and its end is stored before it is shown. */
export class OrderRun {
  readonly #parts: PartsOfRun;
  readonly #id = randomUUID();
  readonly #isKeyed: boolean;
  /** The result is null if another run decides about the order: what is stored counts. */
  readonly task: SharedTask<EssayResult | null>;
  readonly key: string;
  record: OrderRecord;
  /** What it was before it was recorded as sent. */
  readonly #before: OrderRecord | null;
  /** What is stored of it; undefined: that is not known. */
  #seen: Stored | undefined;
  /** `waiting`: for its turn. `begun`: it may be sent at any time. `sent`: it must be completed. `unwritten`: its end is not stored. */
  stage: 'waiting' | 'begun' | 'sent' | 'unwritten' = 'begun';
  /** Whether it may be recorded as sent, although it was not sent. */
  #isMarked = false;
  #marking: Promise<Refusal | null> | null = null;
  #refusal: Refusal | null = null;
  /** Begins it: its turn has come. */
  begin = () => {};
  readonly #turn: Promise<void> | null = null;
  end: End | null = null;
  #writing: Promise<unknown> | null = null;
  /** The text that was written so far, if the service shows it. */
  textSoFar = '';
  #textShownAt = 0;
  #storedText = '';
  /** Calls to the service, with retries. */
  calls = 0;

  constructor(parts: PartsOfRun, { record, seen, request, isKeyed = true }: RunOptions) {
    this.#parts = parts;
    this.key = recordKeyOf(record);
    this.record = record;
    this.#before = seen.record;
    this.#seen = seen;
    this.#isKeyed = isKeyed;
    if (request === null) {
      this.stage = 'waiting';
      this.#turn = new Promise((resolve) => {
        this.begin = () => {
          if (this.stage === 'waiting') this.stage = 'begun';
          resolve();
        };
      });
    }
    // Asynchronously, when the run is known: others must find it.
    this.task = new SharedTask(() => Promise.resolve().then(() => this.#perform(request)));
    if (request === null) this.task.keepAlive();
  }

  /** Ends it before it is sent: another process may send it. */
  leave(): void {
    this.#abort(leftToOthers);
  }

  /** Ends it after it was stored as cancelled. */
  async cancel(): Promise<void> {
    this.#abort(cancelled);
    await this.task.settled();
  }

  /** Shows other processes the text so far, and sees whether it was cancelled there. @throws StoreError */
  async synchronize(): Promise<void> {
    const { records, isWithdrawn, cancelsSent } = this.#parts;
    const { record, textSoFar } = this;
    const isUnsent = this.stage === 'waiting' || this.stage === 'begun';
    if (isUnsent && !record.isAwaited && isWithdrawn(record.caller)) this.#abort(withdrawn);
    if (this.stage !== 'sent' || !this.#isKeyed) return;
    if (textSoFar !== this.#storedText) await records.writeTextSoFar(record, textSoFar);
    this.#storedText = textSoFar;
    if (record.isAwaited || !cancelsSent) return;
    const { record: stored } = await records.read(this.key);
    if (stored?.state.kind === 'cancelled' && stored.run === this.#id) this.#abort(cancelled);
  }

  async #perform(request: RequestContext | null): Promise<EssayResult | null> {
    const { sender, records, reserveCallOf } = this.#parts;
    const { signal } = this.task;
    try {
      await this.#turn;
      signal.throwIfAborted();
      const { id, order, caller } = this.record;
      // A store that fails is noticed before a slot of the service is taken.
      if (this.#isKeyed) await records.owner.prove();
      const context = request ?? createRequestContext(signal, caller.id, reserveCallOf(caller));
      const origin = { ...context.origin, caller: caller.name, orderId: id };
      const hooks = {
        maySend: () => this.#maySend(),
        beforeAttempt: () => this.#beginAttempt(),
        onText: (textSoFar: string) => this.#showText(textSoFar),
      };
      return await this.#endWithResult(await sender.send(order, { ...context, signal, origin }, hooks));
    } catch (error) {
      return this.#endByError(error);
    }
  }

  /** All that an order needs before its call. @throws the signal's reason */
  async #maySend(): Promise<boolean> {
    const { signal } = this.task;
    const { isAwaited, caller } = this.record;
    if (!signal.aborted && !isAwaited && this.#parts.isWithdrawn(caller)) signal.abort(withdrawn);
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

  /** Stores it as sent by this process, with its entry in the list. From then on it is completed. @throws StoreError or the signal's reason */
  async #markSent(): Promise<Refusal | null> {
    const { records, onChange, onReplaced } = this.#parts;
    const { record, task } = this;
    const drawn = record.listed ?? records.drawNumber(record.caller.id).catch(() => null);
    const [listed] = await Promise.all([drawn, records.owner.prove()]);
    // A retry.
    if (record.state.kind === 'sent') return null;
    task.signal.throwIfAborted();
    task.keepAlive();
    this.#isMarked = true;
    const next = { ...record, listed, run: this.#id, state: { kind: 'sent', owner: records.owner.id } as const };
    const seen = this.#seen;
    this.#seen = undefined;
    const stored = await records.change(this.key, { kind: 'sending', before: this.#before, next }, seen);
    this.#isMarked = stored.record?.run === this.#id;
    if (stored.record === null || !this.#isMarked) return 'moved';
    this.#seen = stored;
    this.record = stored.record;
    if (this.#before !== null && isEnded(this.#before)) onReplaced(this.#before);
    onChange(this.key);
    return null;
  }

  #beginAttempt(): void {
    this.task.signal.throwIfAborted();
    // The process may have been suspended since, and have been taken for dead.
    if (this.#isKeyed && !this.#parts.records.owner.isProven()) this.#refusal = 'unsafe';
    if (this.#refusal !== null) throw new Error('The order was not sent in time.');
    this.stage = 'sent';
    this.calls += 1;
  }

  #showText(textSoFar: string): void {
    this.textSoFar = textSoFar;
    // Later pieces are seen when all watched orders are read again.
    if (performance.now() - this.#textShownAt < showTextEveryMs) return;
    this.#textShownAt = performance.now();
    this.#parts.onChange(this.key);
  }

  async #endWithResult(result: EssayResult): Promise<EssayResult | null> {
    if (result.kind === 'essay') return this.#endSent({ kind: 'finished', essay: result }, result);
    const { isAwaited } = this.record;
    if (this.stage === 'sent') {
      const failure = this.#refusal === null ? result : null;
      return this.#endSent({ kind: 'failed', failure }, failure ?? unknownOutcome);
    }
    if (this.#refusal === null) return this.#endUnsent(result);
    if (this.#refusal === 'moved') return this.#giveWay();
    this.#parts.events.essayRejectedWithoutStore();
    // A started order was accepted: it remains queued, and the next sweep finds it.
    return this.#endUnsent(isAwaited ? unsafeOrder : null);
  }

  async #endByError(error: unknown): Promise<EssayResult | null> {
    // What is being stored must not be stored after its end.
    await this.#marking?.catch(ignore);
    const { record, stage } = this;
    const { aborted, reason } = this.task.signal;
    if (error instanceof StoreError && stage !== 'sent') this.#refusal = 'unsafe';
    if (reason === leftToOthers) return this.#endUnsent(null);
    if (reason === withdrawn) return this.#endUnsent(withdrawnFailure);
    if (reason === cancelled) {
      this.#giveWay();
      if (stage !== 'sent') return null;
      throw new GatewayError('UPSTREAM_FAILED', cancelled.message, { service: 'essays' });
    }
    if (this.#refusal !== null && !aborted)
      return this.#endWithResult(unsafeOrder).catch((error) => this.#endByError(error));
    if (!record.isAwaited) {
      this.#parts.events.unexpectedError(error, { orderId: record.id });
      if (stage !== 'sent') return this.#endUnsent(unexpectedlyUnsent);
      return this.#endSent({ kind: 'failed', failure: unexpectedFailure }, unexpectedFailure);
    }
    // A client that waits for it gets the error.
    await (stage === 'sent' ? this.#endSent({ kind: 'failed', failure: null }, null) : this.#endUnsent(null));
    throw error;
  }

  /** @param result for its clients; null: there is none */
  #endSent(state: EndedState, result: EssayResult | null): Promise<EssayResult | null> {
    return this.#end({ kind: 'ended', own: { ...this.record, run: this.#id }, state }, result);
  }

  /** @param failure for its clients, which ends it if it was started; null: it is as it was before */
  async #endUnsent(failure: EssayFailure | null): Promise<EssayResult | null> {
    const { isAwaited } = this.record;
    const event = { kind: 'unsent', run: this.#id, before: this.#before, failure: isAwaited ? null : failure } as const;
    const isStored = this.#isMarked || (!isAwaited && failure !== null);
    if (isStored && this.#isKeyed) return this.#end(event, failure);
    if (failure !== null) this.#parts.events.essayOrdered(outcomes[failure.kind]);
    this.#giveWay();
    return failure;
  }

  /** Stores how it ended, now or else later. @returns the result: an essay that another run has stored before is not replaced */
  async #end(event: End['event'], result: EssayResult | null): Promise<EssayResult | null> {
    const { events, onEnded } = this.#parts;
    const essay = result?.kind === 'essay' ? result : null;
    const sent = { ...this.record, run: this.#id, state: { kind: 'sent', owner: '' } as const };
    const end: End = { event, record: transition(sent, event), essay };
    if (!sent.isAwaited && end.record && isEnded(end.record))
      events.essayOrderEnded(describeEnd(sent, end.record.state, this.calls));
    this.end = end;
    const failure = await this.write();
    onEnded(this, failure);
    const state = end.record?.state;
    const delivered = state?.kind === 'finished' ? state.essay : result;
    if (delivered === null) return null;
    events.essayOrdered(delivered.kind === 'essay' && essay === null ? 'from_key' : outcomes[delivered.kind]);
    // What is not stored says so.
    const isStored = failure === null && state?.kind !== 'cancelled';
    return delivered.kind === 'essay' && !isStored ? { ...delivered, isStored } : delivered;
  }

  /** Tries to store how it has ended, once at a time. @returns why it failed; null: it is stored */
  write(): Promise<unknown> {
    const tried =
      this.#writing ??
      this.#write().then(
        () => null,
        (error: unknown) => error,
      );
    this.#writing ??= tried.finally(() => {
      this.#writing = null;
    });
    return tried;
  }

  async #write(): Promise<void> {
    const { records, events } = this.#parts;
    const { record: own, end } = this;
    if (end === null) return;
    const { essay, event } = end;
    if (!this.#isKeyed) return void (essay && (await records.writeEssay(essay, own.caller.id)));
    const seen = this.#seen;
    this.#seen = undefined;
    const { record } = await records.change(this.key, event, seen);
    const isOther = record !== null && record.run !== this.#id && !isSameOrder(record, own);
    if (essay !== null && isOther) return records.writeEssay(essay, own.caller.id);
    if (record?.state.kind !== 'finished' && record?.state.kind !== 'cancelled') return;
    end.record = record;
    if (essay !== null && record.state.kind === 'finished' && record.state.essay.id !== essay.id)
      events.essayLost('another process stored an essay of the same order first');
  }

  #giveWay(): null {
    this.#parts.onEnded(this, null);
    return null;
  }

  #abort(reason: Error): void {
    this.task.signal.abort(reason);
    this.begin();
  }
}

/** Work whose result several callers wait for: when all of them have aborted, its signal aborts as well, unless the work is kept alive. */
export class SharedTask<Result> {
  readonly signal = new AbortableSignal();
  readonly #result: Promise<Result>;
  #callers = 0;
  #isKeptAlive = false;

  /** @param run starts the work at once */
  constructor(run: () => Promise<Result>) {
    this.#result = run();
    // Callers learn of a failure from `wait`; there may be none.
    this.#result.catch(ignore);
  }

  /** Waits for the result; rejects with the signal's reason as soon as this caller aborts. */
  wait(signal: Signal): Promise<Result> {
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#callers += 1;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#callers -= 1;
        if (this.#callers === 0 && !this.#isKeptAlive) this.signal.abort(signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave);
      this.#result.finally(() => signal.removeEventListener('abort', leave)).then(resolve, reject);
    });
  }

  /** Resolves when the work has ended, whether or not it succeeded. */
  settled(): Promise<void> {
    return this.#result.then(ignore, ignore);
  }

  /** From now on, for example while a call that may be charged is in flight, it continues without callers. */
  keepAlive(): void {
    this.#isKeptAlive = true;
  }

  /** Whether it is kept alive or aborted: then callers do not influence it. */
  outlivesCallers(): boolean {
    return this.#isKeptAlive || this.signal.aborted;
  }
}

/** A model writes dozens of pieces a second. */
const showTextEveryMs = 250;

const leftToOthers = new Error('Another process sends the order.');
const cancelled = new Error('The order was cancelled after it was sent. It may have been paid for.');
const withdrawn = new Error('The API key of the caller was withdrawn.');
