import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { pause } from '../../../base/async/pause.ts';
import { SharedTask } from '../../../base/async/shared-task.ts';
import { AbortableSignal, type Signal } from '../../../base/async/signal.ts';
import type { RequestContext } from '../../request-context.ts';
import type { OpenedStore } from '../../stores/open-store.ts';
import { StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type {
  Cancellation,
  EssayAllowanceExhausted,
  EssayFailure,
  EssayOrder,
  EssayOrderState,
  EssayOrders,
  EssayResult,
  KeyedOrder,
  ListOrders,
  OrderCaller,
  OrderInput,
} from '../port.ts';
import { OpenOrders } from './open-orders.ts';
import {
  isEnded,
  isSameOrder,
  mayOrder,
  nameOf,
  type OrderName,
  type OrderRecord,
  recordKeyOf,
  toOrderId,
  toResult,
  transition,
} from './order.ts';
import {
  differentOrder,
  outcomes,
  rejectInvalidOrder,
  tooManyBytes,
  tooManyOrders,
  unconfirmedOrder,
  unknownOutcome,
  unsafeOrder,
} from './order-failures.ts';
import { createOrderList } from './order-list.ts';
import { OrderOwner } from './order-owner.ts';
import type { RunParts } from './order-run.ts';
import { OrderRuns } from './order-runs.ts';
import { OrderStore, type Stored } from './order-store.ts';
import { hasOrderEnded, OrderWatch } from './order-watch.ts';
import { type ShownOrder, ShownOrders } from './shown-orders.ts';
import { createStoredBytes } from './stored-bytes.ts';
import { UnwrittenEnds } from './unwritten-ends.ts';

/** The store must encrypt its values: essays are confidential. */
interface EssayOrdersOptions
  extends Pick<OpenedStore, 'store' | 'onRecovered'>,
    Pick<RunParts, 'sender' | 'cancelsSent' | 'reserveCallOf' | 'isWithdrawn'> {
  /** How long orders and essays are stored. */
  keepMs: number;
  /** Why an order of the caller could not be sent now; null: it could. Counts nothing. */
  findExhausted: (caller: OrderCaller) => Promise<EssayAllowanceExhausted | null>;
  /** Started orders that this process runs at a time. */
  maxRunning: number;
  /** Started orders of a caller in one process that have not ended. */
  maxPerCaller: number;
  /** For the stored orders of one caller. */
  maxMegabytes?: number;
  events: RunParts['events'] &
    Pick<Events, 'essayOrdersAdopted' | 'essayOrderUnreadable' | 'essayWriteBuffered' | 'essayLost'>;
}

/**
 * Orders of essays, each of which is paid for once with its idempotency key, across all processes that share the store. An order is
 * one record; `order.ts` has its states. It is stored as sent, with its owner, before it is sent. What was sent is completed, also if
 * its client leaves, and shown after it was stored, or kept in memory while the store fails. If its owner dies, it has failed, because
 * it may have been paid for, and is sent again only with `orderAgain`. One that was started and not sent is sent by any process.
 */
class EssayOrderBook {
  readonly #options: EssayOrdersOptions;
  readonly #records: OrderStore;
  readonly #owner: OrderOwner;
  readonly #ends: UnwrittenEnds;
  readonly #runs: OrderRuns;
  readonly #open: OpenOrders;
  readonly shown: ShownOrders;
  readonly #changes = new EventEmitter();
  readonly #watching: OrderWatch;
  readonly #bytes: ReturnType<typeof createStoredBytes>;
  /** Starts that have not returned, by the key of the record. `isNew`: it counts in the limit of its caller. */
  readonly #starting = new Map<string, { callerId: string; isNew: boolean; work: Promise<unknown> }>();
  /** Orders that this process continues, and has not reported yet. */
  #adopted = 0;
  /** Whether it looks for orders that others have left. */
  #isSweeping = false;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  readonly #tasks: { every: number; run: () => void }[];

  constructor(options: EssayOrdersOptions) {
    const { store, onRecovered, keepMs, maxMegabytes, maxRunning, events } = options;
    this.#options = options;
    this.#records = new OrderStore(store, keepMs, events);
    this.#owner = new OrderOwner(store);
    const { skipUnreadable } = this.#records;
    const changes = this.#changes;
    const onWritten = (record: OrderRecord) => void changes.emit(recordKeyOf(record));
    this.#ends = new UnwrittenEnds({ records: this.#records, onWritten, events });
    const onReplaced = (record: OrderRecord) => void this.#freeBytes(record);
    const parts = { ...options, records: this.#records, owner: this.#owner, ends: this.#ends, changes, onReplaced };
    this.#runs = new OrderRuns({ ...parts, maxRunning });
    this.#open = new OpenOrders({ store, keepMs, look: (name) => this.#look(name), skipUnreadable });
    this.shown = new ShownOrders({
      ...{ ...options, ...parts, runs: this.#runs },
      onQueued: (stored) => this.#adopt(stored),
      onAdopted: () => {
        this.#adopted += 1;
      },
    });
    this.#watching = new OrderWatch((name) => this.shown.find(name), changes);
    this.#bytes = createStoredBytes({ store, keepMs, ...(maxMegabytes && { maxMegabytes }) });
    onRecovered(() => void this.#ends.write());
    // Each by itself: a slow one must not delay the sign of life.
    this.#tasks = [
      { every: 1, run: oneAtATime(async () => (this.#runs.hasSent || !this.#ends.isEmpty) && this.#owner.prove()) },
      { every: 2, run: oneAtATime(() => this.#ends.write()) },
      { every: 2, run: oneAtATime(() => this.#runs.synchronize()) },
      { every: 2, run: oneAtATime(() => this.#watching.refreshAll()) },
      { every: 4, run: oneAtATime(() => this.#sweep()) },
    ];
  }

  status() {
    return this.#runs.status();
  }

  /** Looks for orders of processes that have stopped, and of earlier starts. */
  begin(): void {
    this.#isSweeping = true;
    this.#startTimer();
    for (const { run } of this.#tasks) run();
  }

  /** Completes the started orders that were sent, and leaves the others to other processes. */
  async stop(): Promise<void> {
    this.#watching.close();
    this.#isSweeping = false;
    await Promise.allSettled([...[...this.#starting.values()].map(({ work }) => work), this.#runs.stop()]);
    // Also those that have begun meanwhile.
    await this.#runs.stop();
    await this.#ends.write();
  }

  /** Waits for the orders that were sent, then writes once more what could not be stored. */
  async flush(): Promise<void> {
    await this.#runs.settled();
    await this.#ends.write();
    // Also what was being written, and has failed.
    await this.#ends.write();
  }

  /** Flushes, then reports each essay that could not be stored as lost. */
  async close(): Promise<void> {
    this.#isSweeping = false;
    await this.flush();
    this.#ends.discard();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async generate(order: OrderInput, context: RequestContext): Promise<EssayResult> {
    const { signal, callerId, activity } = context;
    const invalid = rejectInvalidOrder(order);
    if (invalid !== null) return this.#report(invalid);
    signal.throwIfAborted();
    activity.begin();
    try {
      const caller = { id: callerId, name: context.origin.caller, limits: noLimits };
      const { idempotencyKey } = order;
      if (idempotencyKey !== null) return await this.#generateOnce({ ...order, idempotencyKey }, caller, context);
      const record = createRecord({ ...order, idempotencyKey: randomUUID() }, caller, true);
      this.#startTimer();
      const run = this.#runs.runFor(context, record, { text: null, record: null }, false);
      const result = await run.task.wait(signal);
      return result.kind === 'moved' ? unsafeOrder : result;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      this.#options.events.essayRejectedWithoutStore();
      return this.#report(unsafeOrder);
    } finally {
      activity.end();
    }
  }

  /** Sends the order, or waits for the run that does. @throws StoreError or the signal's reason */
  async #generateOnce(order: KeyedOrder, caller: OrderCaller, context: RequestContext): Promise<EssayResult> {
    const { signal } = context;
    const next = createRecord(order, caller, true);
    const name = nameOf(next);
    let isMoved = false;
    for (;;) {
      signal.throwIfAborted();
      const here = this.#runs.find(name);
      // A client that leaves does not wait for the store.
      const reading = () => this.shown.read(name, { reparsesBody: true });
      const stored = here ? null : await new SharedTask(reading).wait(signal);
      const joined = here ?? this.#runs.find(name);
      if (joined && !isSameOrder(joined.record, next)) return this.#report(differentOrder);
      if (stored?.record && !joined && !isEnded(stored.record)) {
        const result = isSameOrder(stored.record, next) ? await this.#untilEnded(next, signal) : differentOrder;
        if (result !== null) return this.#report(result);
        continue;
      }
      const result = joined ? null : this.#resultOf(stored, next, isMoved);
      if (result !== null) return this.#report(result);
      const run = joined ?? this.#runNew(next, stored, context);
      const ended = await run.task.wait(signal);
      // The run counts its result once, for the client with which it began.
      if (ended.kind !== 'moved') return joined ? this.#report(ended) : ended;
      isMoved = true;
    }
  }

  #runNew(next: OrderRecord, stored: Stored | null, context: RequestContext) {
    this.#startTimer();
    return this.#runs.runFor(context, next, stored ?? { text: null, record: null }, true);
  }

  /**
   * The result of another run that has ended. Null: the order may be sent.
   * @param isMoved whether another run was faster: its result is that of this order, too
   */
  #resultOf(stored: ShownOrder | null, next: OrderRecord, isMoved: boolean): EssayResult | null {
    if (stored === null || stored.record === null || !isEnded(stored.record)) return null;
    const { record, isStored } = stored;
    const result = toResult(record.state);
    if (!isStored && record.state.kind !== 'finished') {
      this.#options.events.essayRejectedWithoutStore();
      return unsafeOrder;
    }
    if (isMoved && isSameOrder(record, next) && result !== null) return result;
    if (mayOrder(record, next)) return null;
    if (!isSameOrder(record, next)) return differentOrder;
    return isStored || result?.kind !== 'essay' ? (result ?? unknownOutcome) : { ...result, isStored: false };
  }

  /** Looks at an order that another run has until it ends. Null: it has no result of that run, and is looked at once more. */
  async #untilEnded(next: OrderRecord, signal: Signal): Promise<EssayResult | null> {
    const name = nameOf(next);
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      await pause(pauseMs, signal);
      if (this.#runs.find(name)) return null;
      const stored = await this.shown.read(name);
      if (stored.record === null || !stored.isStored || !isSameOrder(stored.record, next)) return null;
      const { state } = stored.record;
      if (isEnded(stored.record)) return state.kind === 'failed' ? state.failure : toResult(stored.record.state);
    }
  }

  /** Stores the order. The same input with the same key is the same order. */
  async start(order: KeyedOrder, caller: OrderCaller): Promise<EssayOrder | EssayFailure> {
    const invalid = rejectInvalidOrder(order);
    if (invalid !== null) return this.#report(invalid);
    const next = createRecord(order, caller, false);
    const key = recordKeyOf(next);
    try {
      for (let other = this.#starting.get(key); other; other = this.#starting.get(key))
        await other.work.catch(() => {});
      const work = this.#startOnce(next).finally(() => this.#starting.delete(key));
      this.#starting.set(key, { callerId: caller.id, isNew: false, work });
      return await work;
    } catch (error) {
      if (!(error instanceof StoreError)) this.#options.events.unexpectedError(error, { orderId: next.id });
      return unsafeOrder;
    }
  }

  /** @throws StoreError */
  async #startOnce(next: OrderRecord): Promise<EssayOrder | EssayFailure> {
    const name = nameOf(next);
    const { caller, order } = next;
    const known = await this.shown.read(name, { reparsesBody: true });
    const here = this.#runs.find(name);
    if (here && !isSameOrder(here.record, next)) return differentOrder;
    const end = this.#ends.find(name);
    if (transition(known.record, { kind: 'started', next }) === known.record && known.record !== null)
      return this.#answerStart(known, order);
    // What is not stored cannot be replaced.
    if (end) return (await this.#ends.writeOne(end)) ? this.#startOnce(next) : unsafeOrder;
    const { maxPerCaller, findExhausted } = this.#options;
    const starting = [...this.#starting.values()].filter(({ callerId, isNew }) => isNew && callerId === caller.id);
    if (this.#runs.countOf(caller.id) + starting.length >= maxPerCaller) return tooManyOrders(maxPerCaller);
    const start = this.#starting.get(recordKeyOf(next));
    if (start) start.isNew = true;
    const exhausted = await findExhausted(caller);
    if (exhausted !== null) return this.#report(exhausted);
    if (!(await this.#bytes.take(order, caller.id, next.createdAt))) return tooManyBytes(this.#bytes.maxMegabytes);
    const listed = await this.#records.list(name);
    await this.#open.add(name);
    const event = { kind: 'started', next: { ...next, listed } } as const;
    const stored = await this.#records.change(name, event, known).catch((error) => {
      if (error instanceof StoreError && error.failure !== 'corrupt') return null;
      throw error;
    });
    if (stored === null) return unconfirmedOrder;
    const { text, record } = stored;
    // Another process may have been faster.
    const unused = record?.run === next.run ? known.record : next;
    if (unused !== null) await this.#freeBytes(unused);
    if (record?.run === next.run) this.#runStarted({ text, record });
    return this.#answerStart({ text, record, isStored: true }, { ...order, orderAgain: false });
  }

  /** Runs an order that was started here, or lets the run continue that a client of this process waits for. */
  #runStarted(stored: Stored & { record: OrderRecord }): void {
    this.#startTimer();
    const here = this.#runs.find(nameOf(stored.record));
    if (here && here.stage !== 'sent') here.detach(stored);
    else this.#runs.enqueue(stored);
  }

  /** @throws StoreError */
  async #answerStart(stored: ShownOrder, order: OrderInput): Promise<EssayOrder | EssayFailure> {
    if (stored.record === null) return unsafeOrder;
    return isSameOrder(stored.record, { order }) ? this.shown.toOrder(stored.record) : differentOrder;
  }

  /** If the store fails, the bytes are counted until the order would have expired: what was done before is done. */
  async #freeBytes({ order, caller, createdAt, isAwaited }: OrderRecord): Promise<void> {
    if (!isAwaited) await this.#bytes.free(order, caller.id, createdAt).catch(() => {});
  }

  /** The order now, and after each change; ends with its last state. */
  watch(name: OrderName, signal: Signal): Promise<AsyncGenerator<EssayOrder | null>> {
    return this.#watching.watch(name, signal);
  }

  async cancel(name: OrderName): Promise<Cancellation | null> {
    const { record } = await this.shown.read(name);
    if (record === null) return null;
    const run = this.#runs.find(name);
    if (run && !run.record.isAwaited) await run.cancel();
    else if (!isEnded(record)) await this.#cancelElsewhere(record);
    const order = (await this.shown.find(name)) ?? (await this.shown.toOrder(record));
    const { state } = order;
    return { order, isCancelled: state.kind === 'cancelled', mayHaveBeenPaid: mayHaveBeenPaid(state) };
  }

  /** The process that has sent the order looks for it every second. */
  async #cancelElsewhere(record: OrderRecord): Promise<void> {
    const name = nameOf(record);
    const changed = await this.#records.change(name, { kind: 'cancelled', cancelsSent: false });
    const ended = { orderId: record.id, caller: record.caller.name, state: 'cancelled', upstreamCalls: 0 } as const;
    if (changed.isChanged) this.#options.events.essayOrderEnded(ended);
    if (changed.record?.state.kind !== 'sent' || record.isAwaited || !this.#options.cancelsSent) return;
    await this.#records.change(name, { kind: 'cancel-requested' });
    const waiting = new AbortableSignal();
    const timer = setTimeout(() => waiting.abort(null), cancelWaitMs);
    try {
      const seen = await this.#watching.watch(name, waiting);
      for await (const order of seen) if (order === null || hasOrderEnded(order.state)) break;
    } finally {
      clearTimeout(timer);
    }
  }

  openList(callerId: string, spend: (entries: number, bytes: number) => boolean): ListOrders {
    const readOrder = (number: number) => this.shown.readListed(number, callerId);
    return createOrderList({ lastNumber: () => this.#records.lastNumber(callerId), readOrder, spend });
  }

  async delete(name: OrderName): Promise<'deleted' | 'unknown' | 'not-ended'> {
    const { record, isStored } = await this.shown.read(name);
    if (record === null) return 'unknown';
    const isIdle = isStored && isEnded(record) && !this.#runs.find(name);
    if (!isIdle || !(await this.#records.erase(record))) return 'not-ended';
    await this.#freeBytes(record);
    return 'deleted';
  }

  async #sweep(): Promise<void> {
    if (!this.#isSweeping) return;
    await this.#runs.noticeOthers();
    await this.#open.sweep();
    if (this.#adopted > 0) this.#options.events.essayOrdersAdopted(this.#adopted);
    this.#adopted = 0;
  }

  /** Queues an order that another process has left, or has not sent yet. */
  #adopt(stored: Stored & { record: OrderRecord }): void {
    if (!this.#isSweeping || !this.#runs.enqueue(stored)) return;
    this.#startTimer();
    this.#adopted += 1;
  }

  async #look(name: OrderName): Promise<'open' | 'unknown' | 'ended'> {
    const run = this.#runs.find(name);
    if (run || this.#runs.status().waiting >= maxWaiting) return 'open';
    const { record } = await this.shown.read(name);
    if (record === null) return 'unknown';
    return isEnded(record) ? 'ended' : 'open';
  }

  #startTimer(): void {
    this.#timer ??= setInterval(() => {
      this.#ticks += 1;
      for (const { every, run } of this.#tasks) if (this.#ticks % every === 0) run();
      if (this.#isSweeping || !this.#runs.isEmpty || !this.#ends.isEmpty) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, tickMs).unref();
  }

  #report<Result extends EssayResult>(result: Result): Result {
    this.#options.events.essayOrdered(result.kind === 'essay' ? 'from_key' : outcomes[result.kind]);
    return result;
  }
}

/** Orders with clients that wait (`generate`) or do not (`orders`), and stored essays by their id. */
export function createEssayOrders(options: EssayOrdersOptions) {
  const book = new EssayOrderBook(options);
  const reparses = { reparsesBody: true };
  const orders: EssayOrders = {
    start: (order, caller) => book.start(order, caller),
    find: (id, callerId) => book.shown.find({ id, callerId }, reparses),
    findByKey: (key, callerId) => book.shown.find({ id: toOrderId(key, callerId), callerId }, reparses),
    watch: (id, callerId, signal) => book.watch({ id, callerId }, signal),
    cancel: (id, callerId) => book.cancel({ id, callerId }),
    openList: (callerId, spend) => book.openList(callerId, spend),
    delete: (id, callerId) => book.delete({ id, callerId }),
  };
  return {
    generate: (order: OrderInput, context: RequestContext) => book.generate(order, context),
    orders,
    archive: { find: (id: string, { callerId }: RequestContext) => book.shown.findEssay(id, callerId) },
    begin: () => book.begin(),
    status: () => book.status(),
    stop: () => book.stop(),
    flush: () => book.flush(),
    close: () => book.close(),
  };
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

/** Calls the function unless its last call has not ended. A store that fails is reported by itself; the next call tries again. */
function oneAtATime(run: () => Promise<unknown>): () => void {
  let isBusy = false;
  return () => {
    if (isBusy) return;
    isBusy = true;
    void run()
      .catch(() => {})
      .finally(() => {
        isBusy = false;
      });
  };
}

function mayHaveBeenPaid(state: EssayOrderState): boolean {
  if (state.kind === 'cancelled') return state.mayHaveBeenPaid;
  if (state.kind !== 'failed') return state.kind !== 'queued';
  return 'code' in state.failure && ['UPSTREAM_FAILED', 'UPSTREAM_TIMED_OUT'].includes(state.failure.code);
}

/** The limits of an order of `generateEssay` come from the context of its request. */
const noLimits = { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null };

const tickMs = 500;
const minPauseMs = 100;
const maxPauseMs = 500;
/** Another process does it within a second, and its store may be slow. */
const cancelWaitMs = 3_000;
/** Started orders that wait in one process. Others remain in the list. */
const maxWaiting = 1_000;
