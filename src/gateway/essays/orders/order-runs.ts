import { SharedTask } from '../../../base/async/shared-task.ts';
import { GatewayError } from '../../../base/errors.ts';
import { createRequestContext, type RequestContext, type ReserveCall } from '../../request-context.ts';
import { StoreError } from '../../stores/store.ts';
import type { EssayOutcome, Events } from '../../telemetry/events.ts';
import type {
  Essay,
  EssayFailure,
  EssayResult,
  EssayServiceFailed,
  JobCaller,
  SendingEssayGenerator,
} from '../essays.ts';
import type { EarlierOrders } from './earlier-orders.ts';
import {
  type EndedState,
  isEnded,
  isSameOrder,
  type OrderRecord,
  toOrderKey,
  toResult,
  transition,
} from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import { leaseMs, type OrderName, type ProcessLease } from './process-lease.ts';

export interface OrderRunsOptions {
  generator: SendingEssayGenerator;
  orders: OrderStore;
  lease: ProcessLease;
  earlier: Pick<EarlierOrders, 'claim'>;
  /** Started orders that this process runs at a time. */
  maxRunning: number;
  /** Whether a started order that was sent is cancelled as well. Its essay is paid for and lost. */
  cancelsSent: boolean;
  /** Counts a paid call in the budget of the caller; null: the caller has none. */
  reserveCallOf: (caller: JobCaller) => ReserveCall | null;
  /** Whether the caller may not order any more. */
  isWithdrawn: (caller: JobCaller) => boolean;
  /** Called when an order has changed. */
  onChanged: (record: OrderRecord) => void;
  events: Pick<
    Events,
    | 'essayJobEnded'
    | 'unexpectedError'
    | 'essayOrdered'
    | 'essayRejectedWithoutStore'
    | 'essayWriteBuffered'
    | 'essayLost'
  >;
}

/** An order that this process runs, or whose end is not stored yet. */
export interface OrderRun {
  /** As this process knows it. */
  record: OrderRecord;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed: boolean;
  /** Of the request that waits for it; null: it was started. */
  request: RequestContext | null;
  /** Whether it is stored as queued. Until then, what is stored of the order counts. */
  isPlaced: boolean;
  /** The order as another run has it; null: this run has it, or had it. */
  elsewhere: OrderRecord | null;
  /** `moved`: another run decides about the order. */
  task: SharedTask<EssayResult | 'moved'>;
  /** Begins a started order, when it is its turn. */
  begin(): void;
  hasBegun: boolean;
  /** Whether it was recorded as sent, and so must be completed. */
  isSent: boolean;
  /** When it began to be recorded as sent, by `performance.now()`. */
  markedAt: number;
  /** What kept it from being sent, other than the generator. */
  refusal: 'unsafe' | 'moved' | null;
  /** How a gateway of an earlier version has ended it; null: it has not. */
  known: EndedState | null;
  /** Why it was aborted; null: it was not, or its clients have left. */
  stoppedBy: 'cancellation' | 'withdrawal' | 'another run' | null;
  /** The text that was written so far, if the service shows it. */
  textSoFar: string;
  /** When watchers were last woken because of it, by `performance.now()`. */
  textShownAt: number;
  /** The text that other processes can read. */
  storedText: string;
  /** Stores how it has ended; null: it has not. */
  storeEnd: (() => Promise<void>) | null;
}

interface HoldOptions {
  request?: RequestContext | null;
  place?: (() => Promise<OrderRecord>) | null;
  isKeyed?: boolean;
}

export type OrderRuns = ReturnType<typeof createOrderRuns>;

/** The orders of this process: it sends them, started ones in their order and some at a time, and stores how they end. */
export function createOrderRuns(options: OrderRunsOptions) {
  const { generator, orders, lease, earlier, maxRunning, cancelsSent, reserveCallOf, isWithdrawn, onChanged, events } =
    options;
  /** In the order of their arrival. */
  const runs = new Map<string, OrderRun>();
  let isStopping = false;
  /** The orders that were not sent while this process stops. */
  const leftToOthers: OrderName[] = [];

  return {
    hold,
    /** Also one that is not placed yet. */
    join: (id: string, callerId: string) => runs.get(toOrderKey(id, callerId)),
    find(id: string, callerId: string): OrderRun | undefined {
      const run = runs.get(toOrderKey(id, callerId));
      return run?.isPlaced ? run : undefined;
    },
    /** An essay that is not stored yet. */
    findEssay(essayId: string, callerId: string): Essay | null {
      for (const { record } of runs.values())
        if (record.state.kind === 'finished' && record.state.essay.id === essayId && record.caller.id === callerId)
          return record.state.essay;
      return null;
    },
    isEmpty: () => runs.size === 0,
    isStopping: () => isStopping,
    countOf: (callerId: string) => listStarted().filter(({ record }) => record.caller.id === callerId).length,
    /** Number of started orders that wait before it. */
    positionOf: (run: OrderRun) => listWaiting().indexOf(run),
    /** All orders, for other processes: first those that wait, and those that are being started. */
    names(starting: Iterable<OrderName> = []): OrderName[] {
      const waiting = listWaiting();
      const others = [...runs.values()].filter((run) => run.isKeyed && !waiting.includes(run));
      return [...waiting.map(toName), ...starting, ...others.map(toName), ...leftToOthers];
    },
    leaveToOthers: (order: OrderName) => void leftToOthers.push(order),
    cancel,
    /** Keeps an order going without its clients. */
    detach(run: OrderRun, record: OrderRecord): void {
      run.record = { ...run.record, isAwaited: false, listed: record.listed, caller: record.caller };
      run.task.keepAlive();
    },
    synchronize,
    restore,
    /** Whether the end of a run is stored now. Resolves when it was tried. */
    async isStored(run: OrderRun): Promise<boolean> {
      if (run.storeEnd !== null) await tryToStore(run);
      return runs.get(keyOf(run)) !== run;
    },
    status() {
      const unended = listStarted().filter(({ storeEnd }) => storeEnd === null);
      const running = unended.filter(({ hasBegun }) => hasBegun).length;
      const oldest = Math.min(Date.now(), ...unended.map(({ record }) => record.createdAt.getTime()));
      return { running, waiting: unended.length - running, oldestMs: Date.now() - oldest };
    },
    /** Leaves the started orders that were not sent to other processes, or to the next start, and completes the others. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all(
        listStarted()
          .filter(({ isSent, storeEnd }) => !isSent && storeEnd === null)
          .map(release),
      );
      await Promise.all(listStarted().map(({ task }) => task.settled()));
      await storeEnds();
    },
    /** Waits for the orders that were sent, then stores once more what could not be stored. */
    async flush(): Promise<void> {
      const detached = () => [...runs.values()].filter(({ task, storeEnd }) => !storeEnd && task.outlivesCallers());
      while (detached().length > 0) await Promise.all(detached().map(({ task }) => task.settled()));
      await storeEnds();
    },
    /** Reports each essay that is not stored as lost. */
    discard(): void {
      for (const { record } of runs.values()) if (record.state.kind === 'finished') events.essayLost(lostAtShutdown);
      runs.clear();
    },
  };

  /**
   * Runs an order: at once if a request waits for it, otherwise when it is its turn.
   * @param place stores it as queued first, unless another run has it @returns what is stored then @throws StoreError
   */
  function hold(record: OrderRecord, { request = null, place = null, isKeyed = true }: HoldOptions = {}): OrderRun {
    let begin = () => {};
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const task = new SharedTask<EssayResult | 'moved'>(() => turn.then(() => perform(run, place)));
    const sending = { isSent: false, markedAt: 0, refusal: null, known: null, stoppedBy: null, storeEnd: null };
    const text = { textSoFar: '', textShownAt: 0, storedText: '' };
    const isPlaced = place === null;
    const hasBegun = request !== null;
    const run: OrderRun = {
      record,
      isKeyed,
      request,
      isPlaced,
      elsewhere: null,
      task,
      begin,
      hasBegun,
      ...sending,
      ...text,
    };
    runs.set(keyOf(run), run);
    if (request === null) {
      task.keepAlive();
      startNext();
    } else begin();
    return run;
  }

  function listStarted(): OrderRun[] {
    return [...runs.values()].filter(({ record }) => !record.isAwaited);
  }

  function listWaiting(): OrderRun[] {
    return listStarted().filter(({ hasBegun, storeEnd }) => !hasBegun && storeEnd === null);
  }

  function startNext(): void {
    if (isStopping) return;
    const unended = listStarted().filter(({ storeEnd }) => storeEnd === null);
    for (const run of unended.slice(0, maxRunning)) {
      run.hasBegun = true;
      run.begin();
    }
  }

  /** @throws the reason of a client that has left, or that cancelled the order */
  async function perform(run: OrderRun, place: HoldOptions['place']): Promise<EssayResult | 'moved'> {
    const { signal } = run.task;
    const { order, caller } = run.record;
    const context = run.request ?? createRequestContext(signal, caller.id, reserveCallOf(caller));
    try {
      if (place) {
        const placed = await place();
        if (placed.run !== run.record.run) run.elsewhere = placed;
        if (run.elsewhere) return leave(run);
        run.record = placed;
        run.isPlaced = true;
      }
      signal.throwIfAborted();
      const result = await generator.generate(
        run.isKeyed ? order : { ...order, idempotencyKey: null },
        { ...context, signal },
        {
          async maySend() {
            run.refusal = await mark(run);
            return run.refusal === null;
          },
          beforeAttempt() {
            // The process may have been suspended since.
            if (performance.now() - run.markedAt >= leaseMs) run.refusal = 'unsafe';
            if (run.refusal !== null) throw new Error('The order was not sent in time.');
            run.isSent = true;
          },
          onText: (textSoFar) => showText(run, textSoFar),
        },
      );
      return await endWith(run, result);
    } catch (error) {
      return endByError(run, error);
    }
  }

  /** Records the order as sent. @returns why it must not be sent; null: it may @throws the signal's reason */
  async function mark(run: OrderRun): Promise<OrderRun['refusal']> {
    const { signal } = run.task;
    signal.throwIfAborted();
    if (!run.isKeyed) {
      run.task.keepAlive();
      run.markedAt = performance.now();
      return null;
    }
    if (!run.record.isAwaited && isWithdrawn(run.record.caller)) {
      stop(run, 'withdrawal', new Error(withdrawnFailure.message));
      signal.throwIfAborted();
    }
    try {
      await lease.settle(signal);
      const { id, caller } = run.record;
      // Before it is sent, so that no order is missing from the list that may be paid for.
      const listed =
        run.record.listed ??
        (await orders
          .listOf(caller.id)
          .append(id)
          .catch(() => null));
      const claimed = await earlier.claim(run.record);
      if (claimed === 'busy') return 'unsafe';
      run.known = claimed;
      if (claimed) return 'moved';
      signal.throwIfAborted();
      // From now on it is completed, because it may be recorded as sent.
      run.task.keepAlive();
      run.markedAt = performance.now();
      const own = { ...run.record, listed };
      const marked = await orders.change(id, caller.id, { kind: 'sending', own });
      if (marked?.run !== own.run || marked.state.kind !== 'sent') return 'moved';
      run.record = marked;
      onChanged(marked);
      return null;
    } catch (error) {
      if (error instanceof StoreError) return 'unsafe';
      throw error;
    }
  }

  function showText(run: OrderRun, textSoFar: string): void {
    run.textSoFar = textSoFar;
    // Later pieces are seen when all watched orders are read again.
    if (performance.now() - run.textShownAt < showTextEveryMs) return;
    run.textShownAt = performance.now();
    onChanged(run.record);
  }

  async function endWith(run: OrderRun, result: EssayResult): Promise<EssayResult | 'moved'> {
    if (run.known !== null) return end(run, run.known);
    if (result.kind === 'essay') return end(run, { kind: 'finished', essay: result });
    if (run.isSent) return end(run, { kind: 'failed', failure: run.refusal === null ? result : null });
    if (run.refusal === 'moved') return leave(run);
    if (run.refusal === null) return endUnsent(run, result);
    events.essayRejectedWithoutStore();
    return endUnsent(run, unsafeOrder);
  }

  async function endByError(run: OrderRun, error: unknown): Promise<EssayResult | 'moved'> {
    const { record, stoppedBy, isSent, task } = run;
    if (!run.isPlaced) drop(run);
    if (!run.isPlaced) throw error;
    if (stoppedBy === 'another run') return leave(run);
    if (stoppedBy === 'withdrawal') return endUnsent(run, withdrawnFailure);
    if (stoppedBy === 'cancellation') {
      if (isSent) await end(run, { kind: 'cancelled', mayHaveBeenPaid: true });
      else drop(run);
      throw error;
    }
    if (run.refusal !== null) return endWith(run, unsafeOrder);
    if (task.signal.aborted && record.isAwaited && !isSent) await endUnsent(run, null);
    else if (record.isAwaited) await (isSent ? end(run, { kind: 'failed', failure: null }) : endUnsent(run, null));
    else {
      events.unexpectedError(error, record.id);
      return end(run, { kind: 'failed', failure: unexpectedFailure });
    }
    throw error;
  }

  /** Ends an order that was sent. @returns its result: an essay that another run has stored before is not replaced */
  async function end(run: OrderRun, state: EndedState): Promise<EssayResult | 'moved'> {
    const own = run.record;
    const { id, caller } = own;
    const essay = state.kind === 'finished' ? state.essay : null;
    const key = run.isKeyed ? keyOf(run) : null;
    run.record = { ...own, state };
    await settleEnd(run, async () => {
      if (essay !== null) await orders.writeEssay(essay, caller.id, key);
      if (key === null) return;
      const stored = await orders.change(id, caller.id, { kind: 'answered', own, state });
      if (stored === null || essay === null) return;
      if (!isSameOrder(stored, own)) return orders.writeEssay(essay, caller.id, null);
      run.record = stored;
      const isEarlier = stored.state.kind === 'finished' && stored.state.essay.id !== essay.id;
      if (isEarlier) events.essayLost(duplicateEssay);
    });
    return report(run, essay !== null);
  }

  /** @param failure null: its client has left */
  async function endUnsent(run: OrderRun, failure: EssayFailure | null): Promise<EssayResult | 'moved'> {
    const own = run.record;
    const { id, caller } = own;
    // Also if it was recorded as sent after all.
    const event = { kind: 'unsent', own, failure } as const;
    run.record = transition(own, event) ?? own;
    if (!run.isKeyed) drop(run);
    else {
      await settleEnd(run, async () => {
        const stored = await orders.change(id, caller.id, event);
        // It was started meanwhile.
        if (stored?.run === own.run && stored.state.kind === 'queued' && !stored.isAwaited) hold(stored);
      });
    }
    return failure === null ? 'moved' : report(run, false, failure);
  }

  /** Stores an end now, or else later. */
  async function settleEnd(run: OrderRun, store: () => Promise<void>): Promise<void> {
    const { record } = run;
    run.storeEnd = store;
    if (!record.isAwaited && isEnded(record)) events.essayJobEnded(record.id, ...describeEnd(record.state));
    onChanged(record);
    startNext();
    const failed = [...runs.values()].filter(({ storeEnd }) => storeEnd !== null && storeEnd !== store);
    await tryToStore(run, (error) => {
      if (record.state.kind !== 'finished') return;
      const reason = error instanceof StoreError ? error.reason : 'unusable';
      const waiting = failed.filter(({ record }) => record.state.kind === 'finished');
      if (waiting.length === 0) events.essayWriteBuffered(reason);
      const [oldest] = waiting;
      if (waiting.length >= maxBuffered && oldest) {
        events.essayLost(reason);
        drop(oldest);
      }
    });
  }

  async function tryToStore(run: OrderRun, onFailure: (error: unknown) => void = () => {}): Promise<void> {
    try {
      await run.storeEnd?.();
      drop(run);
      onChanged(run.record);
    } catch (error) {
      onFailure(error);
    }
  }

  async function storeEnds(): Promise<void> {
    await Promise.all([...runs.values()].filter(({ storeEnd }) => storeEnd !== null).map((run) => tryToStore(run)));
  }

  function report(run: OrderRun, isNew: boolean, failure?: EssayFailure): EssayResult | 'moved' {
    const result = failure ?? (isEnded(run.record) ? toResult(run.record.state) : null);
    if (result === null) return 'moved';
    events.essayOrdered(result.kind === 'essay' && !isNew ? 'from_key' : outcomes[result.kind]);
    return result;
  }

  function drop(run: OrderRun): void {
    if (runs.get(keyOf(run)) === run) runs.delete(keyOf(run));
    startNext();
  }

  function leave(run: OrderRun): 'moved' {
    drop(run);
    return 'moved';
  }

  function stop(run: OrderRun, by: NonNullable<OrderRun['stoppedBy']>, reason: Error): void {
    run.stoppedBy = by;
    run.task.signal.abort(reason);
    run.begin();
  }

  /** Has no effect on an order that was sent and must continue. Resolves when its end is stored. @throws StoreError */
  async function cancel(run: OrderRun): Promise<void> {
    const { id, caller } = run.record;
    if (run.storeEnd !== null || run.stoppedBy !== null) return run.task.settled();
    const record = await orders.change(id, caller.id, { kind: 'cancelled', cancelsSent });
    if (record?.state.kind !== 'cancelled' || run.storeEnd !== null || run.stoppedBy !== null) return;
    // Clients that wait for it with `generateEssay` see it, if it was sent.
    const reason = new GatewayError('UPSTREAM_FAILED', cancelledMessage, { service: 'essays' });
    const { isSent } = run;
    stop(run, 'cancellation', reason);
    if (!isSent) {
      events.essayJobEnded(id, 'cancelled', null);
      onChanged(record);
    }
    await run.task.settled();
  }

  /** Lets other processes continue an order at once. */
  async function release(run: OrderRun): Promise<void> {
    const { id, caller } = run.record;
    const event = { kind: 'released', own: run.record } as const;
    // If the store fails, they continue it when this process has no lease.
    const released = await orders.change(id, caller.id, event).catch(() => null);
    if (released !== null && released.process !== null) return;
    leftToOthers.push(toName(run));
    stop(run, 'another run', continuedElsewhere);
  }

  /** Writes what could not be stored, shows other processes the texts so far, and sees what they have changed. @throws StoreError */
  async function synchronize(): Promise<void> {
    await storeEnds();
    const unended = [...runs.values()].filter(
      ({ isKeyed, isPlaced, storeEnd }) => isKeyed && isPlaced && storeEnd === null,
    );
    await Promise.allSettled(unended.map(synchronizeOne));
    startNext();
  }

  async function synchronizeOne(run: OrderRun): Promise<void> {
    const { record, hasBegun, isSent, textSoFar, storedText } = run;
    if (!hasBegun && !record.isAwaited && isWithdrawn(record.caller)) {
      stop(run, 'withdrawal', new Error(withdrawnFailure.message));
      return;
    }
    if (isSent && textSoFar !== storedText) {
      await orders.writeTextSoFar(record, textSoFar);
      run.storedText = textSoFar;
    }
    const stored = await orders.read(record.id, record.caller.id);
    if (stored === null || run.storeEnd !== null) return;
    if (stored.run !== record.run && !run.isSent) stop(run, 'another run', continuedElsewhere);
    else if (stored.state.kind === 'cancelled' && !run.isSent) stop(run, 'cancellation', new Error(cancelledMessage));
    // Its end is not awaited: it may take as long as an essay.
    else if (stored.isCancelRequested) void cancel(run).catch(() => {});
    else if (record.isAwaited && !stored.isAwaited && stored.run === record.run) run.task.keepAlive();
  }

  /** After the store has lost its data, or has failed. @throws StoreError */
  async function restore(): Promise<void> {
    const unended = [...runs.values()].filter(
      ({ isKeyed, isPlaced, storeEnd }) => isKeyed && isPlaced && storeEnd === null,
    );
    await Promise.all([
      storeEnds(),
      ...unended.map(({ record }) => orders.change(record.id, record.caller.id, { kind: 'lost', own: record })),
    ]);
  }
}

function toName({ record }: OrderRun): OrderName {
  return { id: record.id, callerId: record.caller.id };
}

function keyOf({ record }: Pick<OrderRun, 'record'>): string {
  return toOrderKey(record.id, record.caller.id);
}

function describeEnd(state: EndedState): ['finished' | 'failed' | 'cancelled', string | null] {
  if (state.kind !== 'failed') return [state.kind, null];
  const failure = toResult(state);
  return ['failed', failure !== null && 'code' in failure ? failure.code : 'BAD_USER_INPUT'];
}

/** A model writes dozens of pieces a second. */
const showTextEveryMs = 250;
/** Number of essays, of about 15 kB each. */
const maxBuffered = 2_000;

const continuedElsewhere = new Error('Another process continues the order.');
const duplicateEssay = 'another process stored an essay of the same order first';
const lostAtShutdown = 'the store failed until shutdown';
const cancelledMessage = 'The order was cancelled after it was sent. It may have been paid for.';

/** Without the store, it is unknown whether an order was paid for already. A retry may succeed, as after `shed`. */
export const unsafeOrder: EssayServiceFailed = {
  kind: 'service-failed',
  message:
    'The gateway cannot make sure at the moment that this order is paid for only once, so the essay service was not ' +
    'called. Try again later.',
  code: 'UPSTREAM_UNAVAILABLE',
  retryable: true,
  rawText: null,
};

const withdrawnFailure: EssayServiceFailed = {
  kind: 'service-failed',
  message: 'The API key of the caller was withdrawn before the order was sent, so the essay service was not called.',
  code: 'UPSTREAM_UNAVAILABLE',
  retryable: false,
  rawText: null,
};

const unexpectedFailure: EssayServiceFailed = {
  kind: 'service-failed',
  message: 'The gateway failed unexpectedly. The order may have been paid for.',
  code: 'UPSTREAM_FAILED',
  retryable: false,
  rawText: null,
};

export const outcomes: Readonly<Record<EssayResult['kind'], EssayOutcome>> = {
  essay: 'generated',
  'invalid-input': 'rejected',
  'allowance-exhausted': 'exhausted',
  'service-failed': 'failed',
};
