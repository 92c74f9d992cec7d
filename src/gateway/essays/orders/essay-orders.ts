import { randomUUID } from 'node:crypto';
import { pause } from '../../../base/async/pause.ts';
import type { Signal } from '../../../base/async/signal.ts';
import { WatchedValues } from '../../../base/async/watched-values.ts';
import type { RequestContext } from '../../request-context.ts';
import type { OpenedStore } from '../../stores/open-store.ts';
import { StoreError } from '../../stores/store.ts';
import { type Events, ignore } from '../../telemetry/events.ts';
import type {
  Cancellation,
  EssayAllowanceExhausted,
  EssayArchive,
  EssayFailure,
  EssayGenerator,
  EssayOrder,
  EssayOrderState,
  EssayOrders,
  EssayResult,
  KeyedOrder,
  OrderCaller,
  OrderDeletion,
  OrderInput,
} from '../port.ts';
import {
  describeEnd,
  isEnded,
  isSameOrder,
  mayOrder,
  type OrderRecord,
  recordKeyOf,
  toOrderId,
  toRecordKey,
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
import { type OrderRun, type RunParts, SharedTask } from './order-run.ts';
import { OrderRuns } from './order-runs.ts';
import { OrderStore, type Stored } from './order-store.ts';

/** The store must encrypt its values: essays are confidential. */
interface EssayOrderBookOptions
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
  events: RunParts['events'] & Pick<Events, 'essayOrdersAdopted' | 'essayOrderUnreadable'>;
}

/** What is stored of an order, or how it has ended here while the store fails. */
interface ShownOrder extends Stored {
  isStored: boolean;
}

/**
 * Orders of essays, each of which is paid for once with its idempotency key, across all processes that share the store. An order is
 * one record; `order.ts` has its states. It is stored as sent, with its owner, before it is sent. What was sent is completed, also if
 * its client leaves, and shown after it was stored, or kept in memory while the store fails. If its owner dies, it has failed, because
 * it may have been paid for, and is sent again only with `orderAgain`. One that was started and not sent is sent by any process.
 */
export class EssayOrderBook implements EssayOrders, EssayGenerator {
  readonly #options: EssayOrderBookOptions;
  readonly #records: OrderStore;
  readonly #runs: OrderRuns;
  readonly #watching: WatchedValues<EssayOrder | null>;
  /** Starts that have not returned, by the key of the record. `isNew`: it counts in the limit of its caller. */
  readonly #starting = new Map<string, { callerId: string; isNew: boolean; work: Promise<unknown> }>();
  /** Orders that this process continues, and has not reported yet. */
  #adopted = 0;
  /** Whether it looks for orders that others have left. */
  #isSweeping = false;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  readonly #tasks: { every: number; run: () => void }[];
  /** Null if this caller has no such essay. One that is not stored says so. @throws StoreError */
  readonly archive: EssayArchive = {
    find: async (id, { callerId }) => {
      const unwritten = this.#runs.findUnwrittenEssay(id, callerId);
      return unwritten ? { ...unwritten, isStored: false } : this.#records.readEssay(id, callerId);
    },
  };

  constructor(options: EssayOrderBookOptions) {
    this.#options = options;
    const records = new OrderStore(options);
    const watching = new WatchedValues({ read: (key) => this.#find(key), isSame: isSameState, isLast: hasEnded });
    const runs = new OrderRuns({
      ...options,
      records,
      onChange: (key) => void watching.refresh(key).catch(ignore),
      onReplaced: (record) => void this.#freeBytes(record),
    });
    this.#records = records;
    this.#watching = watching;
    this.#runs = runs;
    options.onRecovered(() => void runs.writeEnds());
    // Each by itself: a slow one must not delay the sign of life.
    this.#tasks = [
      { every: 1, run: oneAtATime(async () => runs.hasSent && records.owner.prove()) },
      { every: 2, run: oneAtATime(() => runs.writeEnds()) },
      { every: 2, run: oneAtATime(() => runs.synchronize()) },
      { every: 2, run: oneAtATime(() => watching.refreshAll()) },
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
    await this.#runs.writeEnds();
  }

  /** Waits for the orders that were sent, then writes once more what could not be stored. */
  async flush(): Promise<void> {
    await this.#runs.settled();
    await this.#runs.writeEnds();
    // Also what was being written, and has failed.
    await this.#runs.writeEnds();
  }

  /** Flushes, then reports each essay that could not be stored as lost. */
  async close(): Promise<void> {
    this.#isSweeping = false;
    await this.flush();
    this.#runs.discardEnds();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async generate(order: OrderInput, context: RequestContext): Promise<EssayResult> {
    const { signal, callerId, activity, origin } = context;
    const invalid = rejectInvalidOrder(order);
    if (invalid !== null) return this.#report(invalid);
    signal.throwIfAborted();
    activity.begin();
    try {
      const { idempotencyKey } = order;
      const isKeyed = idempotencyKey !== null;
      const keyed = { ...order, idempotencyKey: idempotencyKey ?? randomUUID() };
      const record = createRecord(keyed, { id: callerId, name: origin.caller, limits: noLimits }, true);
      if (isKeyed) return await this.#generateOnce(record, context);
      this.#startTimer();
      const run = this.#runs.run({ record, seen: { text: null, record: null }, request: context, isKeyed });
      return (await run.task.wait(signal)) ?? unsafeOrder;
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
  async #generateOnce(next: OrderRecord, context: RequestContext): Promise<EssayResult> {
    const { signal } = context;
    const key = recordKeyOf(next);
    /** Whether another run was faster: its result is that of this order, too. */
    for (let isMoved = false; ; isMoved = true) {
      signal.throwIfAborted();
      const here = this.#findRunning(key);
      // A client that leaves does not wait for the store.
      const reading = () => this.#read(key, { reparsesBody: true });
      const stored = here ? null : await new SharedTask(reading).wait(signal);
      const joined = here ?? this.#findRunning(key);
      if (joined && !isSameOrder(joined.record, next)) return this.#report(differentOrder);
      const result = joined || stored === null ? null : this.#resultOf(stored, next, isMoved);
      if (result === 'open') {
        await pause(lookEveryMs, signal);
        continue;
      }
      if (result !== null) return this.#report(result);
      if (!joined && this.#runs.find(key)) throw new StoreError('the end of an earlier run is not stored');
      this.#startTimer();
      const seen = stored ?? { text: null, record: null };
      const run = joined ?? this.#runs.run({ record: next, seen, request: context });
      const ended = await run.task.wait(signal);
      // The run counts its result once, for the client with which it began.
      if (ended !== null) return joined ? this.#report(ended) : ended;
    }
  }

  #findRunning(key: string): OrderRun | undefined {
    const run = this.#runs.find(key);
    return run?.stage === 'unwritten' ? undefined : run;
  }

  /** The result of an order that does not run here. Null: it may be sent. `open`: another process has it. */
  #resultOf({ record, isStored }: ShownOrder, next: OrderRecord, isMoved: boolean): EssayResult | 'open' | null {
    if (record === null) return null;
    const isSame = isSameOrder(record, next);
    if (!isEnded(record)) return isSame ? 'open' : differentOrder;
    const { state } = record;
    if (!isStored && state.kind !== 'finished') {
      this.#options.events.essayRejectedWithoutStore();
      return unsafeOrder;
    }
    const result = toResult(state);
    const isKnown = state.kind !== 'failed' || state.failure !== null;
    if (isMoved && isSame && isKnown && result !== null) return result;
    if (mayOrder(record, next)) return null;
    if (!isSame) return differentOrder;
    return isStored || result?.kind !== 'essay' ? (result ?? unknownOutcome) : { ...result, isStored: false };
  }

  /** Stores the order. The same input with the same key is the same order. */
  async start(order: KeyedOrder, caller: OrderCaller): Promise<EssayOrder | EssayFailure> {
    const invalid = rejectInvalidOrder(order);
    if (invalid !== null) return this.#report(invalid);
    const next = createRecord(order, caller, false);
    const key = recordKeyOf(next);
    try {
      for (let other = this.#starting.get(key); other; other = this.#starting.get(key)) await other.work.catch(ignore);
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
    const key = recordKeyOf(next);
    const { caller } = next;
    const known = await this.#read(key, { reparsesBody: true });
    const here = this.#runs.find(key);
    if (here && !isSameOrder(here.record, next)) return differentOrder;
    if (known.record !== null && transition(known.record, { kind: 'started', next }) === known.record)
      return isSameOrder(known.record, next) ? this.#toOrder(known.record) : differentOrder;
    // What is not stored cannot be replaced.
    if (here?.stage === 'unwritten') return (await this.#runs.writeEnd(here)) ? this.#startOnce(next) : unsafeOrder;
    const { maxPerCaller, findExhausted } = this.#options;
    const starting = [...this.#starting.values()].filter(({ callerId, isNew }) => isNew && callerId === caller.id);
    if (this.#runs.countOf(caller.id) + starting.length >= maxPerCaller) return tooManyOrders(maxPerCaller);
    const start = this.#starting.get(key);
    if (start) start.isNew = true;
    const exhausted = await findExhausted(caller);
    if (exhausted !== null) return this.#report(exhausted);
    const numbers = await this.#records.admit(next);
    if (numbers === null) return tooManyBytes(this.#records.maxMegabytes);
    const event = { kind: 'started', next: { ...next, listed: numbers.listed } } as const;
    const stored = await this.#records.change(key, event, known, numbers.open).catch((error) => {
      if (error instanceof StoreError && error.failure !== 'corrupt') return null;
      throw error;
    });
    if (stored === null || stored.record === null) return unconfirmedOrder;
    const { text, record } = stored;
    // Another process may have been faster.
    const isOwn = record.run === next.run;
    const unused = isOwn ? known.record : next;
    if (unused !== null) await this.#freeBytes(unused);
    this.#startTimer();
    // One that waits here for its client finds that it was started, and gives way.
    if (isOwn) this.#runs.enqueue({ text, record });
    return isSameOrder(record, next) ? this.#toOrder(record) : differentOrder;
  }

  /** If the store fails, the bytes are counted until the order would have expired: what was done before is done. */
  async #freeBytes(record: OrderRecord): Promise<void> {
    if (!record.isAwaited) await this.#records.free(record).catch(ignore);
  }

  /** The order now, and after each change; ends with its last state. */
  watch(id: string, callerId: string, signal: Signal): Promise<AsyncGenerator<EssayOrder | null>> {
    return this.#watching.watch(toRecordKey(id, callerId), signal);
  }

  /** The process that has sent the order looks for it every second. */
  async cancel(id: string, callerId: string): Promise<Cancellation | null> {
    const key = toRecordKey(id, callerId);
    const { record } = await this.#read(key);
    if (record === null) return null;
    if (!isEnded(record)) {
      const { cancelsSent, events } = this.#options;
      const { isChanged } = await this.#records.change(key, { kind: 'cancelled', cancelsSent });
      const run = this.#runs.find(key);
      if (isChanged)
        events.essayOrderEnded(describeEnd(record, { kind: 'cancelled', mayHaveBeenPaid: false }, run?.calls));
      if (isChanged) await run?.cancel();
    }
    const order = (await this.#find(key)) ?? (await this.#toOrder(record));
    const { state } = order;
    return { order, isCancelled: state.kind === 'cancelled', mayHaveBeenPaid: mayHaveBeenPaid(state) };
  }

  lastEntry(callerId: string): Promise<number> {
    return this.#records.lastNumber(callerId);
  }

  async findListed(number: number, callerId: string): Promise<EssayOrder | null> {
    const { skipUnreadable } = this.#records;
    const id = await this.#records.readEntry(callerId, number);
    const shown = id === null ? null : await this.#read(toRecordKey(id, callerId)).catch(skipUnreadable);
    return shown?.record?.listed === number ? this.#toOrder(shown.record).catch(skipUnreadable) : null;
  }

  async delete(id: string, callerId: string): Promise<OrderDeletion> {
    const key = toRecordKey(id, callerId);
    const { text, record, isStored } = await this.#read(key);
    if (record === null) return { result: 'unknown', bytes: 0 };
    const { bytes } = await this.#toOrder(record);
    const isIdle = isStored && isEnded(record) && !this.#runs.find(key);
    if (!isIdle || !(await this.#records.erase({ text, record }))) return { result: 'not-ended', bytes };
    await this.#freeBytes(record);
    return { result: 'deleted', bytes };
  }

  find(id: string, callerId: string): Promise<EssayOrder | null> {
    return this.#find(toRecordKey(id, callerId), { reparsesBody: true });
  }

  findByKey(idempotencyKey: string, callerId: string): Promise<EssayOrder | null> {
    return this.find(toOrderId(idempotencyKey, callerId), callerId);
  }

  async #find(key: string, options = {}): Promise<EssayOrder | null> {
    const { record } = await this.#read(key, options);
    return record && this.#toOrder(record);
  }

  /**
   * The order as it may be shown. One whose owner has died has failed; one that was not sent is queued here.
   * @throws StoreError
   */
  async #read(key: string, { reparsesBody = false } = {}): Promise<ShownOrder> {
    const here = this.#runs.find(key);
    if (here?.end?.record && here.stage === 'unwritten')
      return { text: null, record: here.end.record, isStored: false };
    // Its end is not shown before it was tried to store it.
    if (here?.record.state.kind === 'sent' && here.stage !== 'unwritten')
      return { text: null, record: here.record, isStored: true };
    let stored = await this.#records.read(key);
    const { record } = stored;
    const isHere = this.#runs.find(key) !== undefined;
    if (record?.state.kind === 'sent' && !isHere) stored = await this.#endDead(stored, record, record.state.owner);
    else if (record?.state.kind === 'queued' && !isHere) this.#adopt({ ...stored, record });
    else if (record !== null && reparsesBody) stored = await this.#reparse(stored, record);
    return { text: stored.text, record: stored.record, isStored: true };
  }

  /** Ends an order that was sent, if its owner has died. One of this process that is not here seemed not to be stored. */
  async #endDead(stored: Stored, record: OrderRecord, owner: string): Promise<Stored> {
    if (owner !== this.#records.owner.id && (await this.#records.owner.isAlive(owner))) return stored;
    const changed = await this.#records.change(recordKeyOf(record), { kind: 'owner-died', run: record.run });
    if (!changed.isChanged) return changed;
    if (!record.isAwaited) this.#options.events.essayOrderEnded(describeEnd(record, { kind: 'failed', failure: null }));
    if (!record.isAwaited) this.#adopted += 1;
    void this.#watching.refresh(recordKeyOf(record)).catch(ignore);
    return changed;
  }

  /** Queues an order that another process has left, or has not sent yet. */
  #adopt(stored: Stored & { record: OrderRecord }): void {
    if (!this.#isSweeping || !this.#runs.enqueue(stored)) return;
    this.#startTimer();
    this.#adopted += 1;
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

  /** @throws StoreError */
  async #toOrder(record: OrderRecord): Promise<EssayOrder> {
    const { idempotencyKey, orderAgain, ...input } = record.order;
    const { cancelsSent } = this.#options;
    const isCancellable = transition(record, { kind: 'cancelled', cancelsSent }) !== record;
    const state = await this.#stateOf(record);
    return { id: record.id, createdAt: record.createdAt, input, state, isCancellable, bytes: bytesOf(record, state) };
  }

  async #stateOf(record: OrderRecord): Promise<EssayOrderState> {
    const { state } = record;
    if (state.kind === 'queued') return { kind: 'queued', position: this.#runs.positionOf(recordKeyOf(record)) };
    if (state.kind === 'finished') return { kind: 'finished', essayId: state.essay.id };
    if (state.kind === 'failed') return { kind: 'failed', failure: state.failure ?? unknownOutcome };
    if (state.kind === 'cancelled') return state;
    const run = this.#runs.find(recordKeyOf(record));
    return { kind: 'writing', textSoFar: run ? run.textSoFar : await this.#records.readTextSoFar(record) };
  }

  async #sweep(): Promise<void> {
    if (!this.#isSweeping) return;
    const { open, skipUnreadable } = this.#records;
    await Promise.all(this.#runs.listStarted('waiting').map((run) => this.#leaveToOthers(run)));
    await open.sweep(({ id, callerId }, isNew) => this.#isOpen(toRecordKey(id, callerId), isNew), skipUnreadable);
    if (this.#adopted > 0) this.#options.events.essayOrdersAdopted(this.#adopted);
    this.#adopted = 0;
  }

  /** An order that waits here may have been sent by another process, which may also have taken it out of the list. */
  async #leaveToOthers(run: OrderRun): Promise<void> {
    const shown = await this.#read(run.key).catch(this.#records.skipUnreadable);
    if (shown !== null && run.stage === 'waiting' && shown.record?.run !== run.record.run) run.leave();
  }

  /** Looks at an order of the list of open ones. */
  async #isOpen(key: string, isNew: boolean): Promise<boolean> {
    if (this.#runs.find(key) !== undefined || this.#runs.size >= maxRuns) return true;
    const { record } = await this.#read(key);
    return record === null ? isNew : !isEnded(record);
  }

  #startTimer(): void {
    this.#timer ??= setInterval(() => {
      this.#ticks += 1;
      for (const { every, run } of this.#tasks) if (this.#ticks % every === 0) run();
      if (this.#isSweeping || this.#runs.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, tickMs).unref();
  }

  #report<Result extends EssayResult>(result: Result): Result {
    this.#options.events.essayOrdered(result.kind === 'essay' ? 'from_key' : outcomes[result.kind]);
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

/** Calls the function unless its last call has not ended. A store that fails is reported by itself; the next call tries again. */
function oneAtATime(run: () => Promise<unknown>): () => void {
  let isBusy = false;
  return () => {
    if (isBusy) return;
    isBusy = true;
    void run()
      .catch(ignore)
      .finally(() => {
        isBusy = false;
      });
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

function mayHaveBeenPaid(state: EssayOrderState): boolean {
  if (state.kind === 'cancelled') return state.mayHaveBeenPaid;
  if (state.kind !== 'failed') return state.kind !== 'queued';
  return 'code' in state.failure && ['UPSTREAM_FAILED', 'UPSTREAM_TIMED_OUT'].includes(state.failure.code);
}

/** The bytes of the texts, which are most of it. */
function bytesOf({ order, state }: OrderRecord, shown: EssayOrderState): number {
  const texts = [order.description, ...order.titles];
  if (state.kind === 'finished') texts.push(state.essay.text);
  if (shown.kind === 'writing') texts.push(shown.textSoFar);
  if (shown.kind === 'failed' && shown.failure.kind === 'service-failed') texts.push(shown.failure.rawText ?? '');
  return 1_000 + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** The limits of an order of `generateEssay` come from the context of its request. */
const noLimits = { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null };

const tickMs = 500;
/** Orders of one process. Others remain in the list of open orders. */
const maxRuns = 1_000;
/** How often a client that waits looks at an order that another process has sent. */
const lookEveryMs = 200;
