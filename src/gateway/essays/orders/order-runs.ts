import type { EventEmitter } from 'node:events';
import { pause } from '../../../base/async/pause.ts';
import { SharedTask } from '../../../base/async/shared-task.ts';
import { GatewayError } from '../../../base/errors.ts';
import { createRequestContext, type RequestContext, type ReserveCall } from '../../request-context.ts';
import { StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type { EssayFailure, EssayResult, EssaySender, OrderCaller } from '../port.ts';
import {
  outcomes,
  unexpectedFailure,
  unexpectedlyUnsent,
  unknownOutcome,
  unsafeOrder,
  withdrawnFailure,
} from './order-failures.ts';
import {
  type EndedState,
  isEnded,
  type OrderEvent,
  type OrderRecord,
  recordKeyOf,
  toRecordKey,
  toResult,
  transition,
} from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import { createPendingEnds, type PendingEnd } from './pending-ends.ts';
import { leaseMs, type OrderName, type ProcessLease } from './process-lease.ts';

export interface OrderRunsOptions {
  sender: EssaySender;
  records: OrderStore;
  lease: ProcessLease;
  /** Started orders that this process runs at a time. */
  maxRunning: number;
  /** Whether a started order that was sent is cancelled as well. Its essay is paid for and lost. */
  cancelsSent: boolean;
  /** Counts a paid call in the budget of the caller; null: the caller has none. */
  reserveCallOf: (caller: OrderCaller) => ReserveCall | null;
  /** Whether the caller may not order any more. */
  isWithdrawn: (caller: OrderCaller) => boolean;
  /** Emits the key of a record when an order of this process changes. */
  changes: EventEmitter;
  events: Pick<
    Events,
    | 'essayOrderEnded'
    | 'unexpectedError'
    | 'essayOrdered'
    | 'essayRejectedWithoutStore'
    | 'essayWriteBuffered'
    | 'essayLost'
  >;
}

/** An order that this process runs. */
export interface OrderRun {
  /** As this process knows it. */
  record: OrderRecord;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed: boolean;
  /**
   * `placing`: it is being stored as queued, and until then what is stored counts. `waiting`: for its turn. `begun`: it may be sent at
   * any time. `sent`: it must be completed.
   */
  phase: 'placing' | 'waiting' | 'begun' | 'sent';
  /** What is stored after it was placed, or why it is not accepted. Rejects with StoreError. */
  placed: Promise<OrderRecord | EssayFailure>;
  /** When it was stored last, as far as is known, by `performance.now()`. */
  storedAt: number;
  /** What takes back its record if it cannot be placed: it may be stored all the same. Null: nothing was written. */
  undo: PendingEnd['event'] | null;
  /** Whether a client starts it while others wait for it. */
  isBeingDetached: boolean;
  task: SharedTask<EssayResult | Moved>;
  /** Null: a request waits for it, so it begins at once. */
  turn: Turn | null;
  /** Why this process must not send the order. */
  refusal: Refusal | null;
  /** The text that was written so far, if the service shows it. */
  textSoFar: string;
  /** Calls to the service, with retries. */
  calls: number;
  /** When watchers were last woken because of it, by `performance.now()`. */
  textShownAt: number;
  /** The text that other processes can read. */
  storedText: string;
}

/** Another run decides about the order. `record`: as it was found; null: it must be looked up. */
export interface Moved {
  kind: 'moved';
  record: OrderRecord | null;
}

/** `unsafe`: it cannot be recorded as sent at the moment. */
type Refusal = { kind: 'unsafe' } | Moved;

interface HoldOptions {
  /** The request that waits for it; null: it was started. */
  request?: RequestContext | null;
  /** Stores it as queued first, unless another run has it. @returns what is stored then, or why it is not accepted @throws StoreError */
  place?: (record: OrderRecord, run: OrderRun) => Promise<OrderRecord | EssayFailure>;
  undo?: OrderRun['undo'];
  isKeyed?: boolean;
}

/** The orders of this process: it sends them, started ones in their order and some at a time, and stores how they end. */
export function createOrderRuns(options: OrderRunsOptions) {
  const { sender, records, lease, maxRunning, cancelsSent, reserveCallOf, isWithdrawn, changes, events } = options;
  /** In the order of their arrival. */
  const runs = new Map<string, OrderRun>();
  const pendingEnds = createPendingEnds({ records, onStored, events });
  let isStopping = false;
  /** The orders that were not sent while this process stops. */
  const leftToOthers: OrderName[] = [];

  return {
    hold,
    find,
    /** Unless what is stored of the order counts. */
    findPlaced(id: string, callerId: string): OrderRun | undefined {
      const run = find(id, callerId);
      return run?.phase === 'placing' ? undefined : run;
    },
    /** The order as this process knows it; null: what is stored counts. */
    findRecord(id: string, callerId: string): OrderRecord | null {
      const run = find(id, callerId);
      if (run) return run.phase === 'placing' ? null : run.record;
      return pendingEnds.find(id, callerId)?.record ?? null;
    },
    /** How orders have ended here, until that is stored. */
    pendingEnds,
    isEmpty: () => runs.size === 0 && pendingEnds.list().length === 0,
    isStopping: () => isStopping,
    /** Of those that are started, or are being started. */
    countOf(callerId: string): number {
      const isCounted = ({ record, isBeingDetached }: OrderRun) => !record.isAwaited || isBeingDetached;
      return [...runs.values()].filter((run) => run.record.caller.id === callerId && isCounted(run)).length;
    },
    names,
    cancel,
    detach,
    synchronize,
    restore,
    status() {
      const detached = listDetached();
      const running = listDetached('begun', 'sent').length;
      const oldest = Math.min(Date.now(), ...detached.map(({ record }) => record.createdAt.getTime()));
      return { running, waiting: detached.length - running, oldestMs: Date.now() - oldest };
    },
    /** Leaves the started orders that were not sent to other processes, or to the next start, and completes the others. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all(listDetached('waiting', 'begun').map(release));
      await Promise.all(listDetached().map(({ task }) => task.settled()));
      await pendingEnds.storeAll();
    },
    /** Waits for the orders that were sent, then stores once more what could not be stored. */
    async flush(): Promise<void> {
      const unended = () => [...runs.values()].filter(({ task }) => task.outlivesCallers());
      while (unended().length > 0) await Promise.all(unended().map(({ task }) => task.settled()));
      await pendingEnds.storeAll();
      // Also what was being stored, and has failed.
      await pendingEnds.storeAll();
    },
    /** Reports each essay that is not stored as lost. */
    discard(): void {
      pendingEnds.discard();
      runs.clear();
    },
  };

  function find(id: string, callerId: string): OrderRun | undefined {
    return runs.get(toRecordKey(id, callerId));
  }

  /** All orders, for other processes: first those that wait. */
  function names(): OrderName[] {
    const waiting: OrderName[] = [];
    const others: OrderName[] = [];
    for (const { record, isKeyed, phase } of runs.values()) {
      const isWaiting = !record.isAwaited && (phase === 'placing' || phase === 'waiting');
      if (isKeyed) (isWaiting ? waiting : others).push({ id: record.id, callerId: record.caller.id });
    }
    for (const { own, isKeyed } of pendingEnds.list())
      if (isKeyed) others.push({ id: own.id, callerId: own.caller.id });
    return [...waiting, ...others, ...leftToOthers];
  }

  /** Runs an order that does not run here: at once if a request waits for it, otherwise when it is its turn. */
  function hold(record: OrderRecord, options: HoldOptions = {}): OrderRun {
    const { request = null, place = async () => record, undo = null, isKeyed = true } = options;
    // Asynchronously, when the run has been created: others must see that it is being placed.
    const placed = Promise.resolve().then(() => place(record, run));
    const task = new SharedTask<EssayResult | Moved>(() =>
      placed.then(
        (stored) => perform(run, stored, request),
        (error) => failToPlace(run, error),
      ),
    );
    const state = { phase: 'placing', storedAt: performance.now(), isBeingDetached: false, refusal: null } as const;
    const text = { textSoFar: '', calls: 0, textShownAt: 0, storedText: '' };
    const turn = request === null ? createTurn() : null;
    const run: OrderRun = { record, isKeyed, placed, undo, task, turn, ...state, ...text };
    runs.set(recordKeyOf(record), run);
    if (request === null) task.keepAlive();
    return run;
  }

  /** Keeps an order going without its clients. */
  function detach(run: OrderRun, { listed, caller }: OrderRecord): void {
    run.record = { ...run.record, isAwaited: false, listed, caller };
    run.task.keepAlive();
  }

  /** The orders that no client waits for, in all phases or in these. */
  function listDetached(...phases: OrderRun['phase'][]): OrderRun[] {
    const isListed = ({ record, phase }: OrderRun) =>
      !record.isAwaited && (phases.length === 0 || phases.includes(phase));
    return [...runs.values()].filter(isListed);
  }

  function beginNext(): void {
    if (isStopping) return;
    const free = maxRunning - listDetached('begun', 'sent').length;
    for (const run of listDetached('waiting').slice(0, Math.max(0, free))) {
      run.phase = 'begun';
      run.turn?.begin();
    }
  }

  /** @throws StoreError, or why its client does not get a result */
  async function perform(
    run: OrderRun,
    stored: OrderRecord | EssayFailure,
    request: RequestContext | null,
  ): Promise<EssayResult | Moved> {
    // Clients that wait for the order of the one that was refused order by themselves.
    if ('kind' in stored) return giveWay(run, null);
    if (stored.run !== run.record.run) return giveWay(run, stored);
    const { signal } = run.task;
    run.record = stored;
    run.phase = run.turn === null ? 'begun' : 'waiting';
    try {
      if (run.turn !== null) {
        if (isStopping) void release(run);
        beginNext();
        await run.turn.begun;
      }
      signal.throwIfAborted();
      const { order, caller } = run.record;
      const context = request ?? createRequestContext(signal, caller.id, reserveCallOf(caller));
      const result = await sender.send(
        order,
        { ...context, signal, origin: { ...context.origin, caller: caller.name, orderId: run.record.id } },
        {
          async maySend() {
            run.refusal = await prepare(run);
            return run.refusal === null;
          },
          beforeAttempt() {
            // The process may have been suspended since.
            if (performance.now() - run.storedAt >= leaseMs) run.refusal = { kind: 'unsafe' };
            if (run.refusal !== null) throw new Error('The order was not sent in time.');
            run.phase = 'sent';
            run.calls += 1;
          },
          onText: (textSoFar) => showText(run, textSoFar),
        },
      );
      return await endWithResult(run, result);
    } catch (error) {
      return endByError(run, error);
    }
  }

  /** Makes sure that the order is paid for once. @returns why it must not be sent @throws the signal's reason */
  async function prepare(run: OrderRun): Promise<Refusal | null> {
    const { record, isKeyed, task } = run;
    const { signal } = task;
    signal.throwIfAborted();
    if (!record.isAwaited && isWithdrawn(record.caller)) signal.abort(withdrawn);
    signal.throwIfAborted();
    try {
      if (isKeyed) {
        await lease.settle(signal);
        signal.throwIfAborted();
      }
      return await mark(run);
    } catch (error) {
      if (error instanceof StoreError) return { kind: 'unsafe' };
      throw error;
    }
  }

  /** Records the order as sent, and lists it. From now on it is completed. @throws StoreError or the signal's reason */
  async function mark(run: OrderRun): Promise<Refusal | null> {
    run.task.keepAlive();
    const markedAt = performance.now();
    const { id, caller } = run.record;
    if (run.isKeyed) {
      // Before it is sent, so that no order is missing from the list that may be paid for.
      const own = { ...run.record, listed: run.record.listed ?? (await records.list(id, caller.id).catch(() => null)) };
      let marked = await records.change(id, caller.id, { kind: 'sending', own, mayBeLost: false });
      if (marked === null && (await lease.mayHaveLost(run.storedAt))) {
        await lease.settle(run.task.signal);
        marked = await records.change(id, caller.id, { kind: 'sending', own, mayBeLost: true });
      }
      if (marked?.run !== own.run || marked.state.kind !== 'sent') return moved(null);
      run.record = marked;
      changes.emit(recordKeyOf(run.record));
    }
    run.storedAt = markedAt;
    return null;
  }

  function showText(run: OrderRun, textSoFar: string): void {
    run.textSoFar = textSoFar;
    // Later pieces are seen when all watched orders are read again.
    if (performance.now() - run.textShownAt < showTextEveryMs) return;
    run.textShownAt = performance.now();
    changes.emit(recordKeyOf(run.record));
  }

  async function endWithResult(run: OrderRun, result: EssayResult): Promise<EssayResult | Moved> {
    const { record: own, refusal, phase } = run;
    if (result.kind === 'essay') {
      return endRun(run, { kind: 'answered', own, state: { kind: 'finished', essay: result } }, result);
    }
    if (phase === 'sent') {
      const failure = refusal === null ? result : null;
      return endRun(run, { kind: 'answered', own, state: { kind: 'failed', failure } }, failure ?? unknownOutcome);
    }
    if (refusal?.kind === 'moved') return giveWay(run, refusal.record);
    if (refusal !== null) events.essayRejectedWithoutStore();
    // A started order was accepted: it remains queued until the store works again.
    if (refusal?.kind === 'unsafe' && !own.isAwaited) {
      await pause(tryAgainMs, run.task.signal);
      return endRun(run, { kind: 'unsent', own, failure: null }, null);
    }
    const failure = refusal === null ? result : unsafeOrder;
    return endRun(run, { kind: 'unsent', own, failure }, failure);
  }

  async function endByError(run: OrderRun, error: unknown): Promise<EssayResult | Moved> {
    const { record: own, phase, refusal } = run;
    const { aborted, reason } = run.task.signal;
    const isSent = phase === 'sent';
    if (reason === continuedElsewhere || (reason === cancelled && !isSent)) return giveWay(run, null);
    if (reason === withdrawn) return endRun(run, { kind: 'unsent', own, failure: withdrawnFailure }, withdrawnFailure);
    if (refusal !== null && !aborted) return endWithResult(run, unsafeOrder).catch((error) => endByError(run, error));
    if (reason === cancelled) {
      await endRun(run, { kind: 'answered', own, state: { kind: 'cancelled', mayHaveBeenPaid: true } }, null);
      throw new GatewayError('UPSTREAM_FAILED', cancelled.message, { service: 'essays' });
    }
    // Without a failure, it ends with the client that waited for it.
    const failure = own.isAwaited ? null : isSent ? unexpectedFailure : unexpectedlyUnsent;
    if (failure !== null) events.unexpectedError(error, { orderId: own.id });
    const state = { kind: 'failed', failure } as const;
    const ended = await endRun(
      run,
      isSent ? { kind: 'answered', own, state } : { kind: 'unsent', own, failure },
      failure,
    );
    if (failure === null) throw error;
    return ended;
  }

  async function failToPlace(run: OrderRun, error: unknown): Promise<never> {
    drop(run);
    const { record: own, undo: event, isKeyed } = run;
    const isUnreadable = error instanceof StoreError && error.failure === 'corrupt';
    if (event !== null && !isUnreadable) await pendingEnds.add({ own, record: null, event, essay: null, isKeyed });
    throw error;
  }

  /**
   * Ends an order, and stores that now or else later.
   * @param result for its clients; null: there is none @returns the result: an essay that another run has stored before is not replaced
   */
  async function endRun(
    run: OrderRun,
    event: Extract<OrderEvent, { kind: 'answered' | 'unsent' }>,
    result: EssayResult | null,
  ): Promise<EssayResult | Moved> {
    const { own } = event;
    const essay = result?.kind === 'essay' ? result : null;
    const record = transition(own, event) ?? own;
    const ended: PendingEnd = { own, record, event, essay, isKeyed: run.isKeyed };
    if (!own.isAwaited && isEnded(record)) report(run, record.state);
    drop(run);
    const added = pendingEnds.add(ended);
    changes.emit(recordKeyOf(own));
    await added;
    const state = ended.record?.state;
    const delivered = state?.kind === 'finished' ? state.essay : result;
    if (delivered === null) return moved(null);
    events.essayOrdered(delivered.kind === 'essay' && essay === null ? 'from_key' : outcomes[delivered.kind]);
    return delivered;
  }

  function report({ record: { id, caller }, calls }: OrderRun, state: EndedState): void {
    const code = findFailureCode(state);
    events.essayOrderEnded({ orderId: id, caller: caller.name, state: state.kind, code, upstreamCalls: calls });
  }

  function onStored({ own }: PendingEnd, stored: OrderRecord | null): void {
    changes.emit(recordKeyOf(own));
    // It was started while its client left or was refused, or was taken over although that seemed to fail.
    const isOwn = stored?.state.kind === 'queued' && !stored.isAwaited && stored.run === own.run;
    if (isOwn && stored.process === lease.id) hold(stored);
  }

  function drop(run: OrderRun): void {
    if (runs.get(recordKeyOf(run.record)) === run) runs.delete(recordKeyOf(run.record));
    if (!run.record.isAwaited) beginNext();
  }

  /** Ends a run without a result: what is stored of the order counts. */
  function giveWay(run: OrderRun, record: OrderRecord | null): Moved {
    drop(run);
    return moved(record);
  }

  function abortRun(run: OrderRun, reason: Error): void {
    run.task.signal.abort(reason);
    run.turn?.begin();
  }

  /** Has no effect on an order that was sent and must continue. Resolves when its end is stored. @throws StoreError */
  async function cancel(run: OrderRun): Promise<void> {
    const { id, caller } = run.record;
    const hasEnded = () => find(id, caller.id) !== run || run.task.signal.aborted;
    if (hasEnded()) return run.task.settled();
    const record = await records.change(id, caller.id, { kind: 'cancelled', cancelsSent });
    if (record?.state.kind !== 'cancelled' || hasEnded()) return;
    // Clients that wait for it with `generateEssay` see it, if it was sent.
    abortRun(run, cancelled);
    if (run.phase !== 'sent') report(run, { kind: 'cancelled', mayHaveBeenPaid: false });
    changes.emit(recordKeyOf(run.record));
    await run.task.settled();
  }

  /** Lets other processes continue an order at once. If the store fails, they do so when this process has no lease. */
  async function release(run: OrderRun): Promise<void> {
    const { id, caller } = run.record;
    const released = await storeAsReleased(run).catch(() => null);
    if (run.record.state.kind !== 'queued' || (released !== null && released.process !== null)) return;
    leftToOthers.push({ id, callerId: caller.id });
    abortRun(run, continuedElsewhere);
  }

  async function storeAsReleased({ record, storedAt }: OrderRun): Promise<OrderRecord | null> {
    const { id, caller } = record;
    const change = (kind: 'released' | 'lost') => records.change(id, caller.id, { kind, own: record });
    const released = await change('released');
    if (released !== null || !(await lease.mayHaveLost(storedAt))) return released;
    await change('lost');
    return change('released');
  }

  function listUnended(): OrderRun[] {
    return [...runs.values()].filter(({ isKeyed, phase }) => isKeyed && phase !== 'placing');
  }

  /** Writes what could not be stored, shows other processes the texts so far, and sees what they have changed. */
  async function synchronize(): Promise<void> {
    await pendingEnds.storeAll();
    await Promise.allSettled(listUnended().map(synchronizeOne));
    beginNext();
  }

  async function synchronizeOne(run: OrderRun): Promise<void> {
    const { record, textSoFar } = run;
    if (run.phase === 'waiting' && !record.isAwaited && isWithdrawn(record.caller)) return abortRun(run, withdrawn);
    if (run.phase === 'sent' && textSoFar !== run.storedText) {
      await records.writeTextSoFar(record, textSoFar);
      run.storedText = textSoFar;
    }
    const readAt = performance.now();
    const stored = await records.read(record.id, record.caller.id);
    // Otherwise it was cancelled and deleted.
    const isLost = stored === null && (await lease.mayHaveLost(run.storedAt));
    if (find(record.id, record.caller.id) !== run || isLost) return;
    if (stored !== null) run.storedAt = readAt;
    const isSent = run.phase === 'sent';
    if (!isSent && stored?.run !== record.run) return abortRun(run, continuedElsewhere);
    if (stored?.state.kind === 'cancelled' && !isSent) return abortRun(run, cancelled);
    // Its end is not awaited: it may take as long as an essay.
    if (stored?.isCancelRequested) void cancel(run).catch(() => {});
    else if (stored?.run === record.run && record.isAwaited && !stored.isAwaited) detach(run, stored);
  }

  /** After the store has lost its data, or has failed. @throws StoreError */
  async function restore(): Promise<void> {
    const restoreOne = ({ record }: OrderRun) =>
      records.change(record.id, record.caller.id, { kind: 'lost', own: record });
    await Promise.all([pendingEnds.storeAll(), ...listUnended().map(restoreOne)]);
  }
}

interface Turn {
  /** Resolves when the order may begin. */
  begun: Promise<void>;
  begin(): void;
}

function createTurn(): Turn {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  return { begun, begin };
}

function moved(record: OrderRecord | null): Moved {
  return { kind: 'moved', record };
}

function findFailureCode(state: EndedState): string | undefined {
  if (state.kind !== 'failed') return undefined;
  const failure = toResult(state);
  return failure !== null && 'code' in failure ? failure.code : 'BAD_USER_INPUT';
}

/** After the store has failed. */
const tryAgainMs = 1_000;
/** A model writes dozens of pieces a second. */
const showTextEveryMs = 250;

const continuedElsewhere = new Error('Another process continues the order.');
const cancelled = new Error('The order was cancelled after it was sent. It may have been paid for.');
const withdrawn = new Error('The API key of the caller was withdrawn.');
