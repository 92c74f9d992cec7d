import { randomUUID } from 'node:crypto';
import { pause } from '../../../base/async/pause.ts';
import type { Signal } from '../../../base/async/signal.ts';
import { WatchedValues } from '../../../base/async/watched-values.ts';
import type { CallLimit, RequestContext } from '../../request-context.ts';
import type { OpenedStore } from '../../stores/open-store.ts';
import { StoreError } from '../../stores/store.ts';
import { ignore } from '../../telemetry/events.ts';
import type {
  Cancellation,
  Essay,
  EssayAllowanceExhausted,
  EssayFailure,
  EssayOrder,
  EssayOrderState,
  EssayResult,
  Essays,
  KeyedOrder,
  OrderCaller,
  OrderDeletion,
  OrderInput,
} from '../port.ts';
import {
  differentOrder,
  isEnded,
  isResultFor,
  isSameOrder,
  mayOrder,
  type OrderRecord,
  outcomes,
  recordKeyOf,
  rejectInvalidOrder,
  toOrderId,
  tooManyBytes,
  tooManyOrders,
  toRecordKey,
  toResult,
  transition,
  unconfirmedOrder,
  unknownOutcome,
  unsafeOrder,
} from './order.ts';
import { OrderQueue, type QueueOptions } from './order-queue.ts';
import { orAbort } from './order-run.ts';
import { OrderStore, type OrderStoreOptions, type Stored } from './order-store.ts';

/** The store must encrypt its values: essays are confidential. */
interface EssayOrderBookOptions
  extends Omit<OrderStoreOptions, 'onChange' | 'events'>,
    Omit<QueueOptions, 'records' | 'onChange' | 'refresh' | 'events'>,
    Pick<OpenedStore, 'onRecovered'> {
  /** Why an order of the caller could not be sent now; null: it could. Counts nothing. */
  findExhausted: (caller: OrderCaller, callLimit: CallLimit | null) => Promise<EssayAllowanceExhausted | null>;
  /** Started orders of a caller in one process that have not ended. */
  maxPerCaller: number;
  events: OrderStoreOptions['events'] & QueueOptions['events'];
}

/** What is known of an order that a client sends: it may be sent, it is a known one, or it is refused. */
type Known =
  | { kind: 'new'; seen: Stored }
  | { kind: 'known'; record: OrderRecord }
  | { kind: 'refused'; failure: EssayFailure };

/**
 * Orders of essays, each of which is paid for once with its idempotency key, across all processes that share the store. An order is
 * one record; `order.ts` has its states. It is stored as sent, with its owner, before it is sent. What was sent is completed, also if
 * its client leaves, and shown after it was stored, or kept in memory while the store fails. If its owner dies, it has failed, because
 * it may have been paid for, and is sent again only with `orderAgain`. One that was started and not sent is sent by any process.
 */
export class EssayOrderBook implements Essays {
  readonly #options: EssayOrderBookOptions;
  readonly #records: OrderStore;
  readonly #queue: OrderQueue;
  readonly #watching: WatchedValues<EssayOrder | null>;
  /** New orders that are being stored. */
  readonly #starting = new Set<OrderRecord>();

  constructor(options: EssayOrderBookOptions) {
    this.#options = options;
    const watching = new WatchedValues({ read: (key) => this.#find(key), isSame: isSameState, isLast: hasEnded });
    const onChange = (key: string) => void watching.refresh(key)?.catch(ignore);
    const records = new OrderStore({ ...options, onChange });
    const queue = new OrderQueue({ ...options, records, onChange, refresh: () => watching.refreshAll() });
    this.#records = records;
    this.#watching = watching;
    this.#queue = queue;
    options.onRecovered(() => void records.writeEnds());
  }

  status() {
    return this.#queue.status();
  }

  /** Looks for orders of processes that have stopped, and of earlier starts. */
  begin(): void {
    this.#queue.begin();
  }

  /** Completes the orders that were sent, and leaves the others to other processes. */
  async stop(): Promise<void> {
    this.#watching.close();
    await this.#queue.stop();
  }

  /** Stops, then reports each essay that could not be stored as lost. */
  close(): Promise<void> {
    return this.#queue.close();
  }

  async generate(order: OrderInput, caller: OrderCaller, context: RequestContext): Promise<EssayResult> {
    const { signal, activity } = context;
    const invalid = rejectInvalidOrder(order);
    if (invalid !== null) return this.#report(invalid);
    signal.throwIfAborted();
    activity.begin();
    const next = createRecord({ ...order, idempotencyKey: order.idempotencyKey ?? randomUUID() }, caller, true);
    try {
      return await this.#generateOnce(next, context, order.idempotencyKey !== null);
    } catch (error) {
      signal.throwIfAborted();
      return this.#refuse(error, next);
    } finally {
      activity.end();
    }
  }

  /** Sends the order, or waits for the run that does. @throws StoreError or the signal's reason */
  async #generateOnce(next: OrderRecord, context: RequestContext, isKeyed: boolean): Promise<EssayResult> {
    const { signal } = context;
    const key = recordKeyOf(next);
    /** Whether another run was faster: its result is that of this order, too. */
    for (let isLater = false; ; isLater = true) {
      signal.throwIfAborted();
      const isRead = isKeyed && this.#queue.find(key) === undefined;
      // A client that leaves does not wait for the store.
      const known = isRead ? await orAbort(this.#know(next, isLater), signal) : null;
      const joined = this.#queue.find(key);
      if (joined && !isSameOrder(joined.record, next)) return this.#report(differentOrder);
      if (!joined && known?.kind === 'refused') return this.#report(known.failure);
      if (!joined && known?.kind === 'known') {
        const { state } = known.record;
        if (state.kind !== 'queued' && state.kind !== 'sent')
          return this.#report(toResult(state) ?? unknownOutcome, 'from_key');
        await pause(lookEveryMs, signal);
        continue;
      }
      const seen = known?.kind === 'new' ? known.seen : unseen;
      const run = joined ?? this.#queue.run({ record: next, seen, request: context, isKeyed });
      const result = await run.wait(signal);
      // The run counts its result once, for the client with which it began.
      if (result !== null) return joined ? this.#report(result, 'from_key') : result;
    }
  }

  /** @param isLater whether an end that was stored since the client asked is the result for it @throws StoreError */
  async #know(next: OrderRecord, isLater = false): Promise<Known> {
    const key = recordKeyOf(next);
    if (this.#records.isUnwritten(key)) await this.#records.writeEnds([key]);
    const seen = await this.#read(key);
    const { record } = seen;
    const here = this.#queue.find(key);
    if (here && !isSameOrder(here.record, next)) return { kind: 'refused', failure: differentOrder };
    if (record === null || (mayOrder(record, next) && !(isLater && isResultFor(record, next)))) {
      if (this.#records.isUnwritten(key)) throw new StoreError('the end of an earlier run is not stored');
      return { kind: 'new', seen };
    }
    return isSameOrder(record, next) ? { kind: 'known', record } : { kind: 'refused', failure: differentOrder };
  }

  /** Stores the order. The same input with the same key is the same order. */
  async start(
    order: KeyedOrder,
    caller: OrderCaller,
    callLimit: CallLimit | null = null,
  ): Promise<EssayOrder | EssayFailure> {
    const invalid = rejectInvalidOrder(order);
    if (invalid !== null) return this.#report(invalid);
    const next = { ...createRecord(order, caller, false), ...(callLimit && { isSentOnce: true }) };
    try {
      return await this.#startOnce(next, callLimit);
    } catch (error) {
      return this.#refuse(error, next);
    } finally {
      this.#starting.delete(next);
    }
  }

  /** @throws StoreError */
  async #startOnce(next: OrderRecord, callLimit: CallLimit | null): Promise<EssayOrder | EssayFailure> {
    const { caller } = next;
    const known = await this.#know(next);
    if (known.kind === 'known') return this.#toOrder(known.record);
    if (known.kind === 'refused') return known.failure;
    const { maxPerCaller, findExhausted } = this.#options;
    const others = [...this.#starting].filter((other) => other.caller.id === caller.id && other.id !== next.id);
    const count = this.#queue.countOf(caller.id) + new Set(others.map(({ id }) => id)).size;
    if (count >= maxPerCaller) return tooManyOrders(maxPerCaller);
    this.#starting.add(next);
    const exhausted = await findExhausted(caller, callLimit);
    if (exhausted !== null) return this.#report(exhausted);
    const numbers = await this.#records.admit(next);
    if (numbers === null) return tooManyBytes(this.#records.maxMegabytes);
    const event = { kind: 'started', next: { ...next, listed: numbers.listed } } as const;
    const stored = await this.#records.change(recordKeyOf(next), event, known.seen, numbers.open).catch((error) => {
      if (error instanceof StoreError && error.failure !== 'corrupt') return null;
      throw error;
    });
    if (callLimit !== null) callLimit.left -= 1;
    if (stored === null || stored.record === null) return unconfirmedOrder;
    const { record } = stored;
    // Another process may have been faster.
    if (record.run !== next.run) await this.#records.free(next).catch(ignore);
    this.#starting.delete(next);
    // One that waits here for its client finds that it was started, and gives way.
    if (record.run === next.run) this.#queue.enqueue(record, stored);
    return isSameOrder(record, next) ? this.#toOrder(record) : differentOrder;
  }

  /** Without what is stored, it is not known whether the order was paid for. */
  #refuse(error: unknown, { id }: OrderRecord): EssayFailure {
    const { events } = this.#options;
    if (error instanceof StoreError) events.essayRejectedWithoutStore();
    else events.unexpectedError(error, { orderId: id });
    return this.#report(unsafeOrder);
  }

  /** The order now, and after each change; ends with its last state. */
  watch(id: string, callerId: string, signal: Signal): Promise<AsyncGenerator<EssayOrder | null>> {
    return this.#watching.watch(toRecordKey(id, callerId), signal);
  }

  /** The process that has sent the order looks for it every second. */
  async cancel(id: string, callerId: string): Promise<Cancellation | null> {
    const key = toRecordKey(id, callerId);
    const { record } = await this.#queue.read(key);
    if (record === null) return null;
    if (!isEnded(record)) {
      const { cancelsSent } = this.#options;
      const calls = this.#queue.find(key)?.calls ?? 0;
      const { isChanged } = await this.#records.change(key, { kind: 'cancelled', cancelsSent, calls });
      if (isChanged) await this.#queue.find(key)?.cancel();
    }
    const order = (await this.#find(key)) ?? this.#toOrder(record);
    const { state } = order;
    return { order, isCancelled: state.kind === 'cancelled', mayHaveBeenPaid: mayHaveBeenPaid(state) };
  }

  findEssay(id: string, callerId: string): Promise<Essay | null> {
    return this.#records.readEssay(id, callerId);
  }

  lastEntry(callerId: string): Promise<number> {
    return this.#records.lastNumber(callerId);
  }

  async findListed(number: number, callerId: string): Promise<EssayOrder | null> {
    const { skipUnreadable } = this.#records;
    const id = await this.#records.readEntry(callerId, number);
    const shown = id === null ? null : await this.#queue.read(toRecordKey(id, callerId)).catch(skipUnreadable);
    return shown?.record?.listed === number ? this.#toOrder(shown.record) : null;
  }

  async delete(id: string, callerId: string): Promise<OrderDeletion> {
    const key = toRecordKey(id, callerId);
    const { text, record } = await this.#queue.read(key);
    if (record === null) return { result: 'unknown', bytes: 0 };
    const { bytes } = this.#toOrder(record);
    const isIdle = isEnded(record) && !this.#queue.find(key);
    if (!isIdle || !(await this.#records.erase({ text, record }))) return { result: 'not-ended', bytes };
    return { result: 'deleted', bytes };
  }

  find(id: string, callerId: string): Promise<EssayOrder | null> {
    return this.#find(toRecordKey(id, callerId));
  }

  findByKey(idempotencyKey: string, callerId: string): Promise<EssayOrder | null> {
    return this.find(toOrderId(idempotencyKey, callerId), callerId);
  }

  async #find(key: string): Promise<EssayOrder | null> {
    const { record } = await this.#read(key);
    return record && this.#toOrder(record);
  }

  /** What is known of an order that a client asks for. @throws StoreError */
  async #read(key: string): Promise<Stored> {
    const stored = await this.#queue.read(key);
    return stored.record === null ? stored : this.#reparse(stored, stored.record);
  }

  /** A stored body that could not be read may be an essay by the fields that the operator has declared since. */
  async #reparse(stored: Stored, record: OrderRecord): Promise<Stored> {
    const failure = record.state.kind === 'failed' ? record.state.failure : null;
    if (failure?.kind !== 'service-failed' || failure.outcome !== 'unreadable' || failure.rawText === null)
      return stored;
    const essay = this.#options.sender.reparse(record.order, failure.rawText);
    if (essay === null) return stored;
    const event = { kind: 'ended', own: record, state: { kind: 'finished', essay } } as const;
    return this.#records.change(recordKeyOf(record), event, stored);
  }

  #toOrder(record: OrderRecord): EssayOrder {
    const { idempotencyKey, orderAgain, ...input } = record.order;
    const { cancelsSent } = this.#options;
    const isCancellable = transition(record, { kind: 'cancelled', cancelsSent }) !== record;
    const state = this.#stateOf(record);
    return { id: record.id, createdAt: record.createdAt, input, state, isCancellable, bytes: bytesOf(record, state) };
  }

  #stateOf(record: OrderRecord): EssayOrderState {
    const { state } = record;
    if (state.kind === 'queued') return { kind: 'queued', position: this.#queue.positionOf(recordKeyOf(record)) };
    if (state.kind === 'finished') return { kind: 'finished', essayId: state.essay.id };
    if (state.kind === 'failed') return { kind: 'failed', failure: state.failure ?? unknownOutcome };
    if (state.kind === 'cancelled') return state;
    return { kind: 'writing', textSoFar: state.textSoFar ?? '' };
  }

  #report<Result extends EssayResult>(result: Result, outcome = outcomes[result.kind]): Result {
    this.#options.events.essayOrdered(outcome);
    return result;
  }
}

function createRecord(order: KeyedOrder, caller: OrderCaller, isAwaited: boolean): OrderRecord {
  const { id: callerId, name, limits, toolLimits } = caller;
  return {
    id: toOrderId(order.idempotencyKey, callerId),
    createdAt: new Date(),
    order,
    caller: { id: callerId, name, limits, ...(toolLimits && { toolLimits }) },
    isAwaited,
    listed: null,
    run: randomUUID(),
    state: { kind: 'queued', earlier: null },
  };
}

/** Whether a watcher need not be shown another order: an end is always shown. */
function isSameState(one: EssayOrder | null, other: EssayOrder | null): boolean {
  if (one === null || other === null) return one === other;
  const [first, second] = [one.state, other.state];
  if (first.kind === 'queued' && second.kind === 'queued') return first.position === second.position;
  if (first.kind === 'writing' && second.kind === 'writing') return first.textSoFar === second.textSoFar;
  return first.kind === second.kind && !hasEnded(other);
}

function hasEnded(order: EssayOrder | null): boolean {
  return order?.state.kind !== 'queued' && order?.state.kind !== 'writing';
}

/** Whether the service may have accepted it: a failure says so by its outcome. */
function mayHaveBeenPaid(state: EssayOrderState): boolean {
  if (state.kind === 'cancelled') return state.mayHaveBeenPaid;
  if (state.kind === 'failed') return state.failure.kind === 'service-failed' && state.failure.outcome !== undefined;
  return state.kind !== 'queued';
}

/** The bytes of the texts, which are most of it. */
function bytesOf({ order, state }: OrderRecord, shown: EssayOrderState): number {
  const texts = [order.description, ...order.titles];
  if (state.kind === 'finished') texts.push(state.essay.text);
  if (shown.kind === 'writing') texts.push(shown.textSoFar);
  if (shown.kind === 'failed' && shown.failure.kind === 'service-failed') texts.push(shown.failure.rawText ?? '');
  return 1_000 + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

const unseen: Stored = { text: null, record: null };

/** How often a client that waits looks at an order that another process has sent. */
const lookEveryMs = 200;
