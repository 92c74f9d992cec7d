import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { pause } from '../../../base/async/pause.ts';
import { AbortableSignal, type Signal } from '../../../base/async/signal.ts';
import type { RequestContext } from '../../request-context.ts';
import type { OpenedStore } from '../../stores/open-store.ts';
import { StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type {
  Cancellation,
  Essay,
  EssayAllowanceExhausted,
  EssayFailure,
  EssayOrder,
  EssayOrderState,
  EssayOrders,
  EssayResult,
  ListOrders,
  OrderCaller,
  OrderInput,
} from '../port.ts';
import {
  differentOrder,
  outcomes,
  rejectInvalidOrder,
  tooManyBytes,
  tooManyOrders,
  unknownOutcome,
  unsafeOrder,
  withoutKey,
} from './order-failures.ts';
import { createOrderList } from './order-list.ts';
import {
  type EndedState,
  isEnded,
  isHidden,
  isSameOrder,
  type KeyedOrder,
  type OrderRecord,
  recordKeyOf,
  toOrderId,
  toResult,
  transition,
} from './order-record.ts';
import { createOrderRuns, type Moved, type OrderRun, type OrderRunsOptions } from './order-runs.ts';
import { createOrderStore } from './order-store.ts';
import { createOrderWatch, hasOrderEnded } from './order-watch.ts';
import type { PendingEnd } from './pending-ends.ts';
import { createProcessLease, type OrderName } from './process-lease.ts';
import { createStoredBytes } from './stored-bytes.ts';

/** The store must encrypt its values: essays are confidential. */
interface EssayOrdersOptions
  extends Pick<OpenedStore, 'store' | 'isShared' | 'onRecovered'>,
    Omit<OrderRunsOptions, 'records' | 'lease' | 'changes' | 'events'> {
  /** How long orders and essays are stored. */
  keepMs: number;
  /** Why an order of the caller could not be sent now; null: it could. Counts nothing. */
  findExhausted: (caller: OrderCaller) => Promise<EssayAllowanceExhausted | null>;
  /** Started orders of a caller in one process that have not ended. */
  maxPerCaller: number;
  /** For the stored orders of one caller. */
  maxMegabytes?: number;
  events: OrderRunsOptions['events'] & Pick<Events, 'essayOrdersAdopted' | 'essayOrderUnreadable'>;
}

/**
 * Orders of essays, each of which is paid for once with its idempotency key, across all processes that share the store. An order is
 * one record; `order-record.ts` has its states. It is recorded as sent before it is sent. What was sent is completed, also if its client
 * leaves, and stored, or kept in memory while the store fails. If the process of an order stops, another one sends it if it was
 * not sent; one that was sent has failed, because it may have been paid for, and is sent again only with `orderAgain`.
 */
export function createEssayOrders({ store, isShared, onRecovered, ...options }: EssayOrdersOptions) {
  const { sender, keepMs, findExhausted, maxPerCaller, cancelsSent, events } = options;
  const records = createOrderStore({ store, keepMs, events });
  const lease = createProcessLease({ store, isShared, keepMs, skipUnreadable: records.skipUnreadable });
  const changes = new EventEmitter();
  const watching = createOrderWatch(({ id, callerId }) => find(id, callerId), changes);
  const runs = createOrderRuns({ ...options, records, lease, changes });
  const { pendingEnds } = runs;
  const storedBytes = createStoredBytes({
    store,
    keepMs,
    ...(options.maxMegabytes && { maxMegabytes: options.maxMegabytes }),
  });
  /** Calls of `startEssay` that have not returned. */
  const pendingStarts = new Set<Promise<unknown>>();
  /** Number of started orders that were taken over and not reported yet. */
  let adopted = 0;
  /** By the key of the record. */
  const takingOver = new Map<string, Promise<OrderRecord>>();
  let lossesRepaired = 0;
  /** Whether this process continues the orders of others. */
  let hasBegun = false;
  /** Whether no started order runs here any more. */
  let hasStopped = false;
  let timer: NodeJS.Timeout | undefined;
  onRecovered(() => {
    lease.unsettle();
    void renewNeededLease().catch(() => {});
    void runs.restore().catch(() => {});
  });
  // Each by itself: a slow one must not delay the lease.
  const everySecond = [renewNeededLease, runs.synchronize, continueOrphaned, watching.refreshAll].map(oneAtATime);

  const orders: EssayOrders = {
    start: (order, caller) => track(start(order, caller)),
    find: async (id, callerId) => find(id, callerId, { reparsesBody: true }),
    findByKey: async (key, callerId) => find(toOrderId(key, callerId), callerId, { reparsesBody: true }),
    watch: (id, callerId, signal) => watching.watch({ id, callerId }, signal),
    cancel,
    openList,
    delete: remove,
  };

  return {
    generate,
    orders,
    /** Stored essays by their id, of the caller. */
    archive: { find: (id: string, { callerId }: RequestContext) => findEssay(id, callerId) },
    /** Continues the orders of processes that have stopped, and of earlier starts. */
    begin(): void {
      hasBegun = true;
      startTimer();
    },
    status: runs.status,
    /** Completes the started orders that were sent, and leaves the others to other processes. */
    async stop(): Promise<void> {
      watching.close();
      hasBegun = false;
      // Until the end, the lease shows that the orders that were sent are not left alone.
      const stopping = runs.stop();
      await renewNeededLease().catch(() => {});
      await Promise.allSettled([...pendingStarts, stopping]);
      // Also those that have begun meanwhile.
      await runs.stop();
      hasStopped = true;
      await endLease();
    },
    /** Waits for the orders that were sent, then stores once more what could not be stored. */
    flush: runs.flush,
    /** Flushes, then reports each essay that could not be stored as lost. */
    async close(): Promise<void> {
      await runs.flush();
      runs.discard();
      clearInterval(timer);
      timer = undefined;
      await endLease();
    },
  };

  /** Unless requests still wait for orders. */
  async function endLease(): Promise<void> {
    if (runs.isEmpty()) await lease.end(runs.names()).catch(() => {});
  }

  async function track<Result>(work: Promise<Result>): Promise<Result> {
    pendingStarts.add(work);
    try {
      return await work;
    } finally {
      pendingStarts.delete(work);
    }
  }

  function startTimer(): void {
    timer ??= setInterval(() => {
      for (const run of everySecond) run();
      if (hasBegun || !runs.isEmpty()) return;
      clearInterval(timer);
      timer = undefined;
    }, everyMs).unref();
  }

  async function renewNeededLease(): Promise<void> {
    if (!runs.isEmpty() || (runs.isStopping() && !hasStopped)) await renewLease();
  }

  /** @throws StoreError */
  async function renewLease(): Promise<void> {
    const names = runs.names();
    const phase = runs.isStopping() ? 'stopping' : 'running';
    await Promise.all([lease.checkMarker(), lease.renew(names, phase)]);
    const losses = lease.losses();
    if (losses === lossesRepaired) return;
    await Promise.all([lease.renew(names, phase), runs.restore()]);
    lossesRepaired = losses;
  }

  async function generate(order: OrderInput, context: RequestContext): Promise<EssayResult> {
    const { signal, callerId, activity } = context;
    const invalid = rejectInvalidOrder(order);
    if (invalid !== null) return report(invalid);
    signal.throwIfAborted();
    activity.begin();
    try {
      const caller = { id: callerId, name: context.origin.caller, limits: noLimits };
      const { idempotencyKey } = order;
      if (idempotencyKey !== null) return await generateOnce({ ...order, idempotencyKey }, caller, context);
      const unkeyed = queue({ ...order, idempotencyKey: randomUUID() }, caller, true);
      startTimer();
      const result = await runs.hold(unkeyed, { request: context, isKeyed: false }).task.wait(signal);
      return result.kind === 'moved' ? unsafeOrder : result;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      events.essayRejectedWithoutStore();
      return report(unsafeOrder);
    } finally {
      activity.end();
    }
  }

  /** Sends the order, or waits for the run that does. @throws StoreError or the signal's reason */
  async function generateOnce(order: KeyedOrder, caller: OrderCaller, context: RequestContext): Promise<EssayResult> {
    const { signal } = context;
    const id = toOrderId(order.idempotencyKey, caller.id);
    for (;;) {
      signal.throwIfAborted();
      const end = pendingEnds.find(id, caller.id);
      const here = end ? undefined : runs.find(id, caller.id);
      const known = end?.own ?? here?.record;
      const isJoined = known !== undefined;
      if (known && !isSameOrder(known, { order })) {
        if (here?.phase !== 'placing') return report(differentOrder);
        // Another order may have been stored with this key before.
        await here.placed.catch(() => {});
        continue;
      }
      const result = end
        ? await resultOf(end)
        : await (here ?? holdNew(queue(order, caller, true), context)).task.wait(signal);
      // The run counts its result once, for the client with which it began.
      if (result.kind !== 'moved') return isJoined ? report(result) : result;
      const moved = result.record && (await resultOfOther(result.record, order, signal));
      if (moved !== null) return report(moved);
    }
  }

  /**
   * The result of another run with the same key. Null: this order decides by itself what follows, such as after a run that has no
   * result of its own. @throws StoreError or the signal's reason
   */
  async function resultOfOther(found: OrderRecord, order: KeyedOrder, signal: Signal): Promise<EssayResult | null> {
    const { id, caller, run } = found;
    if (isEnded(found))
      return isSameOrder(found, { order }) ? (toResult(found.state) ?? unknownOutcome) : differentOrder;
    let current: OrderRecord | null = found;
    for (let pauseMs = minPauseMs; !isEnded(current); pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      // While it is queued, it may be taken back, and free the key.
      if (current.state.kind === 'sent' && !isSameOrder(current, { order })) return differentOrder;
      await pause(pauseMs, signal);
      current = await readOrTakeOver(id, caller.id);
      if (current === null || (!isEnded(current) && current.process === lease.id)) return null;
    }
    if (!isSameOrder(current, { order })) return null;
    if (current.state.kind === 'finished') return current.state.essay;
    return current.run === run && current.state.kind === 'failed' ? current.state.failure : null;
  }

  /** Begins to run a new order. @param request that waits for it; null: it was started */
  function holdNew(
    next: OrderRecord,
    request: RequestContext | null,
    placeNew: (next: OrderRecord, run: OrderRun) => Promise<OrderRecord | EssayFailure> = place,
  ): OrderRun {
    startTimer();
    return runs.hold(next, { request, place: placeNew });
  }

  /** The result of an order that has ended here. */
  async function resultOf(end: PendingEnd): Promise<EssayResult | Moved> {
    if (end.essay !== null) return end.essay;
    if (await pendingEnds.tryToStore(end)) return { kind: 'moved', record: null };
    events.essayRejectedWithoutStore();
    return unsafeOrder;
  }

  /**
   * Stores an order as queued, unless it is known.
   * @param run that begins with it; null: another run has it @returns what is stored then @throws StoreError
   */
  async function place(next: OrderRecord, run: OrderRun | null): Promise<OrderRecord> {
    const { id, caller } = next;
    const known = await readOrTakeOver(id, caller.id, { reparsesBody: true });
    if (known?.state.kind === 'finished') return known;
    // Otherwise another process could take it over at once.
    await renewLease();
    if (run !== null) run.undo = { kind: 'refused', own: next, before: known };
    const record = (await records.change(id, caller.id, { kind: 'ordered', next })) ?? next;
    if (record.run === next.run && next.isAwaited && known !== null) await freeBytes(known);
    return record;
  }

  function queue(order: KeyedOrder, caller: OrderCaller, isAwaited: boolean): OrderRecord {
    const { id: callerId, name, limits, toolLimits } = caller;
    return {
      id: toOrderId(order.idempotencyKey, callerId),
      createdAt: new Date(),
      order,
      caller: { id: callerId, name, limits, ...(toolLimits && { toolLimits }) },
      isAwaited,
      listed: null,
      process: lease.id,
      run: randomUUID(),
      attempts: 0,
      isCancelRequested: false,
      isRepeated: false,
      earlier: null,
      state: { kind: 'queued' },
    };
  }

  /** The order as this process knows it, or as it is stored. If its process has stopped, this one takes it over. */
  async function readOrTakeOver(
    id: string,
    callerId: string,
    { reparsesBody = false } = {},
  ): Promise<OrderRecord | null> {
    const before = runs.findRecord(id, callerId);
    const record = before ?? (await records.read(id, callerId));
    // It may have begun here meanwhile.
    const here = runs.findRecord(id, callerId);
    if (here || before || record === null) return here ?? record;
    if (isEnded(record)) return reparsesBody ? reparse(record) : record;
    if (!(await isOrphaned(record))) return record;
    const key = recordKeyOf(record);
    const deciding = takingOver.get(key) ?? takeOver(record).finally(() => takingOver.delete(key));
    takingOver.set(key, deciding);
    return deciding;
  }

  /** A stored body that could not be read may be an essay by the fields that the operator has declared since. */
  async function reparse(record: OrderRecord): Promise<OrderRecord> {
    const failure = record.state.kind === 'failed' ? record.state.failure : null;
    if (failure?.kind !== 'service-failed' || failure.outcome !== 'unreadable' || failure.rawText === null)
      return record;
    const { id, caller, order } = record;
    const essay = sender.reparse(order, failure.rawText);
    if (essay === null) return record;
    await records.writeEssay(essay, caller.id, recordKeyOf(record));
    const event = { kind: 'answered', own: record, state: { kind: 'finished', essay } } as const;
    return (await records.change(id, caller.id, event)) ?? record;
  }

  /** Whether no process runs it any more. @throws StoreError */
  async function isOrphaned({ id, caller, process, run }: OrderRecord): Promise<boolean> {
    if (process === null) return true;
    // One of this process that does not run here: its write seemed to fail.
    if (process === lease.id) return runs.find(id, caller.id)?.record.run !== run;
    return !(await lease.isAlive(process));
  }

  /** @param orphan an order that no process runs any more @returns the order afterwards @throws StoreError */
  async function takeOver(orphan: OrderRecord): Promise<OrderRecord> {
    const { id, caller, process, isAwaited, state } = orphan;
    const isOwn = process === lease.id;
    const by = { process: lease.id, run: isOwn ? orphan.run : randomUUID() };
    const event = { kind: 'taken-over', seen: orphan, by } as const;
    const storeTakeOver = async () => {
      await renewLease();
      // The store may have been full: only after it could write, it is known whether the other process could.
      if (!isOwn && process !== null && (await lease.isAlive(process))) return orphan;
      return (await records.change(id, caller.id, event)) ?? orphan;
    };
    if (state.kind === 'sent' || isAwaited) {
      const ended = await storeTakeOver();
      if (ended.process !== lease.id || isAwaited || ended.state.kind !== 'failed') return ended;
      const { code } = unknownOutcome;
      events.essayOrderEnded({ orderId: id, caller: caller.name, state: 'failed', code, upstreamCalls: 0 });
      adopted += 1;
      return ended;
    }
    if (!hasBegun || runs.find(id, caller.id) || pendingEnds.find(id, caller.id)) return orphan;
    startTimer();
    const run = runs.hold({ ...orphan, ...by }, isOwn ? {} : { place: storeTakeOver, undo: event });
    const record = (await run.placed) as OrderRecord;
    if (record.run === by.run) adopted += 1;
    return record;
  }

  async function start(order: OrderInput, caller: OrderCaller): Promise<EssayOrder | EssayFailure> {
    const { idempotencyKey } = order;
    if (idempotencyKey === null) return withoutKey;
    const invalid = rejectInvalidOrder(order);
    if (invalid !== null) return report(invalid);
    const next = queue({ ...order, idempotencyKey }, caller, false);
    try {
      return await startOnce(next);
    } catch (error) {
      if (!(error instanceof StoreError)) events.unexpectedError(error, { orderId: next.id });
      return unsafeOrder;
    }
  }

  /** @throws StoreError */
  async function startOnce(next: OrderRecord): Promise<EssayOrder | EssayFailure> {
    const { id, caller, order } = next;
    const known = await readOrTakeOver(id, caller.id, { reparsesBody: true });
    const end = pendingEnds.find(id, caller.id);
    const isKnown = known !== null && transition(known, { kind: 'ordered', next }) === known;
    if (isKnown && end?.record !== null) return repeatStart(known, next);
    if (end) return (await pendingEnds.tryToStore(end)) ? startOnce(next) : unsafeOrder;
    const here = runs.find(id, caller.id);
    if (here?.phase === 'placing') return here.placed.then(() => startOnce(next));
    if (runs.countOf(caller.id) >= maxPerCaller) return tooManyOrders(maxPerCaller);
    const record = await (here
      ? startAwaited(here, next, known)
      : holdNew(next, null, (next, run) => placeDetached(next, known, run)).placed);
    return 'kind' in record ? record : answerStart(record, { ...order, orderAgain: false });
  }

  /** Starts an order that clients of this process wait for. */
  async function startAwaited(run: OrderRun, next: OrderRecord, known: OrderRecord | null) {
    run.isBeingDetached = true;
    try {
      const record = await placeDetached(next, known, null);
      if ('kind' in record || run.record.run !== record.run || record.isAwaited) return record;
      runs.detach(run, record);
      return record;
    } finally {
      run.isBeingDetached = false;
    }
  }

  /** Starts an order that is known. If another process has queued it, that one may be taking it back. */
  async function repeatStart(known: OrderRecord, next: OrderRecord): Promise<EssayOrder | EssayFailure> {
    const { id, caller, state, process, isRepeated } = known;
    if (state.kind !== 'queued' || process === lease.id || isRepeated || !isSameOrder(known, next))
      return answerStart(known, next.order);
    const record = await records.change(id, caller.id, { kind: 'repeated', seen: known });
    return record?.run === known.run ? answerStart(record, next.order) : startOnce(next);
  }

  /** @param known the order with its key, which it replaces @returns what is stored then, or why it is not accepted */
  async function placeDetached(
    next: OrderRecord,
    known: OrderRecord | null,
    run: OrderRun | null,
  ): Promise<OrderRecord | EssayFailure> {
    const { id, caller, order, createdAt } = next;
    const exhausted = await findExhausted(caller);
    if (exhausted !== null) return report(exhausted);
    if (!(await storedBytes.take(order, caller.id, createdAt))) return tooManyBytes(storedBytes.maxMegabytes);
    const listed = await records.list(id, caller.id);
    const record = await place({ ...next, listed }, run);
    const isNew = record.run === next.run || (known?.isAwaited && !record.isAwaited);
    // Another process may have been faster.
    const unused = isNew ? known : next;
    if (unused !== null) await freeBytes(unused);
    return record;
  }

  /** @throws StoreError */
  async function answerStart(record: OrderRecord, order: OrderInput): Promise<EssayOrder | EssayFailure> {
    if (!isSameOrder(record, { order })) return differentOrder;
    return (await toOrder(record)) ?? unsafeOrder;
  }

  /** If the store fails, the bytes are counted until the order would have expired: what was done before is done. */
  async function freeBytes({ order, caller, createdAt, isAwaited }: OrderRecord): Promise<void> {
    if (!isAwaited) await storedBytes.free(order, caller.id, createdAt).catch(() => {});
  }

  async function find(id: string, callerId: string, options = {}): Promise<EssayOrder | null> {
    const record = await readOrTakeOver(id, callerId, options);
    return record && toOrder(record);
  }

  /** Null for an order of `generateEssay` that was not sent. @throws StoreError */
  async function toOrder(record: OrderRecord): Promise<EssayOrder | null> {
    if (isHidden(record)) return null;
    const shown = record.isAwaited && record.state.kind === 'queued' ? record.earlier : null;
    const { idempotencyKey, orderAgain, ...input } = (shown ?? record).order;
    const isCancellable = transition(record, { kind: 'cancelled', cancelsSent }) !== record;
    const state = await stateOf(record);
    return { id: record.id, createdAt: record.createdAt, input, state, isCancellable, bytes: bytesOf(record, state) };
  }

  async function stateOf(record: OrderRecord): Promise<EssayOrderState> {
    const { id, caller, process, isAwaited, earlier, state } = record;
    if (isEnded(record)) return toEnd(record.state);
    const run = runs.findPlaced(id, caller.id);
    if (state.kind === 'sent') {
      return { kind: 'writing', textSoFar: run ? run.textSoFar : await records.readTextSoFar(record) };
    }
    if (isAwaited && earlier !== null) return toEnd(earlier.state);
    if (process === null || (run && run.phase !== 'waiting')) return { kind: 'queued', position: 0 };
    const names = run ? runs.names() : await lease.namesOf(process);
    const position = names.findIndex((name) => name.id === id);
    return { kind: 'queued', position: Math.max(0, position) };
  }

  async function findEssay(id: string, callerId: string): Promise<Essay | null> {
    return pendingEnds.findEssay(id, callerId) ?? records.readEssay(id, callerId);
  }

  async function cancel(id: string, callerId: string): Promise<Cancellation | null> {
    const record = await readOrTakeOver(id, callerId);
    if (record === null || isHidden(record)) return null;
    const run = runs.findPlaced(id, callerId);
    if (run) await runs.cancel(run);
    else if (!isEnded(record)) await cancelElsewhere(record);
    const order = (await find(id, callerId)) ?? (await toOrder(record));
    if (order === null) return null;
    const { state } = order;
    return { order, isCancelled: state.kind === 'cancelled', mayHaveBeenPaid: mayHaveBeenPaid(state) };
  }

  /** Another process that has sent the order looks for it every second. */
  async function cancelElsewhere({ id, caller, isAwaited }: OrderRecord): Promise<void> {
    const record = await records.change(id, caller.id, { kind: 'cancelled', cancelsSent: false });
    const ended = { orderId: id, caller: caller.name, state: 'cancelled', upstreamCalls: 0 } as const;
    if (record?.state.kind === 'cancelled') events.essayOrderEnded(ended);
    if (record?.state.kind !== 'sent' || isAwaited || !cancelsSent) return;
    await records.change(id, caller.id, { kind: 'cancel-requested' });
    const waiting = new AbortableSignal();
    const timer = setTimeout(() => waiting.abort(null), cancelWaitMs);
    try {
      const seen = await watching.watch({ id, callerId: caller.id }, waiting);
      for await (const order of seen) if (order === null || hasOrderEnded(order.state)) break;
    } finally {
      clearTimeout(timer);
    }
  }

  function openList(callerId: string, spend: (entries: number, bytes: number) => boolean): ListOrders {
    const readOrder = (number: number) => readListed(number, callerId);
    return createOrderList({ lastNumber: () => records.lastNumber(callerId), readOrder, spend });
  }

  /** Without an order for one that cannot be read, and for an earlier entry of an order that was started again. */
  async function readListed(number: number, callerId: string): Promise<EssayOrder | null> {
    const id = await records.readEntry(callerId, number);
    const record = id && (await readOrTakeOver(id, callerId).catch(records.skipUnreadable));
    return record && record.listed === number ? toOrder(record).catch(records.skipUnreadable) : null;
  }

  async function remove(id: string, callerId: string): Promise<'deleted' | 'unknown' | 'not-ended'> {
    const record = await readOrTakeOver(id, callerId);
    if (record === null || isHidden(record)) return 'unknown';
    if (!isEnded(record) || pendingEnds.find(id, callerId) || !(await records.erase(record))) return 'not-ended';
    await freeBytes(record);
    return 'deleted';
  }

  /** Continues the orders of processes that have stopped. @throws StoreError */
  async function continueOrphaned(): Promise<void> {
    if (!hasBegun) return;
    for (const stopped of await lease.findStopped()) {
      let isDone = !stopped.isStopping;
      for (let from = 0; from < stopped.names.length; from += maxTakenOver) {
        const names = stopped.names.slice(from, from + maxTakenOver);
        const settle = ({ id, callerId }: OrderName) => readOrTakeOver(id, callerId).catch(records.skipUnreadable);
        const settled = await Promise.all(names.map(settle));
        const isUnended = (record: OrderRecord | null) => record !== null && !isEnded(record);
        if (settled.some((record) => isUnended(record) && [stopped.id, null].includes(record?.process ?? null)))
          isDone = false;
      }
      if (isDone && hasBegun) await stopped.forget();
    }
    if (adopted > 0) events.essayOrdersAdopted(adopted);
    adopted = 0;
  }

  function report<Result extends EssayResult>(result: Result): Result {
    events.essayOrdered(result.kind === 'essay' ? 'from_key' : outcomes[result.kind]);
    return result;
  }
}

/** Calls the function unless its last call has not ended. A store that fails is reported by itself; the next call tries again. */
function oneAtATime(run: () => Promise<void>): () => void {
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

function toEnd(state: EndedState): EssayOrderState {
  if (state.kind === 'finished') return { kind: 'finished', essayId: state.essay.id };
  return state.kind === 'failed' ? { kind: 'failed', failure: state.failure ?? unknownOutcome } : state;
}

/** Of the texts, which are most of it. */
function bytesOf({ order, state }: OrderRecord, shown: EssayOrderState): number {
  const texts = [order.description, ...order.titles];
  if (state.kind === 'finished') texts.push(state.essay.text);
  if (shown.kind === 'writing') texts.push(shown.textSoFar);
  if (shown.kind === 'failed' && shown.failure.kind === 'service-failed') texts.push(shown.failure.rawText ?? '');
  return 1_000 + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function mayHaveBeenPaid(state: EssayOrderState): boolean {
  if (state.kind === 'cancelled') return state.mayHaveBeenPaid;
  if (state.kind !== 'failed') return state.kind !== 'queued';
  return 'code' in state.failure && ['UPSTREAM_FAILED', 'UPSTREAM_TIMED_OUT'].includes(state.failure.code);
}

/** The limits of an order of `generateEssay` come from the context of its request. */
const noLimits = { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null };

const everyMs = 1_000;
const minPauseMs = 100;
const maxPauseMs = 1_000;
/** Another process does it within a second, and its store may be slow. */
const cancelWaitMs = 3_000;
/** Orders of a process that are looked at together. */
const maxTakenOver = 200;
