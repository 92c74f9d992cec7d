import { SharedTask } from '../../../base/async/shared-task.ts';
import { GatewayError } from '../../../base/errors.ts';
import { createRequestContext, type RequestContext, type ReserveCall } from '../../request-context.ts';
import { StoreError } from '../../stores/store.ts';
import type { EssayOutcome, Events } from '../../telemetry/events.ts';
import type { Essay, EssayResult, EssayServiceFailed, OrderCaller, SendingEssayGenerator } from '../essays.ts';
import {
  type EndedState,
  isEnded,
  isSameOrder,
  type OrderEvent,
  type OrderRecord,
  toOrderKey,
  toResult,
  transition,
  unknownOutcome,
} from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import { leaseMs, type OrderName, type ProcessLease } from './process-lease.ts';

export interface OrderRunsOptions {
  generator: SendingEssayGenerator;
  orders: OrderStore;
  lease: ProcessLease;
  /** Started orders that this process runs at a time. */
  maxRunning: number;
  /** Whether a started order that was sent is cancelled as well. Its essay is paid for and lost. */
  cancelsSent: boolean;
  /** Counts a paid call in the budget of the caller; null: the caller has none. */
  reserveCallOf: (caller: OrderCaller) => ReserveCall | null;
  /** Whether the caller may not order any more. */
  isWithdrawn: (caller: OrderCaller) => boolean;
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

/** An order that this process runs, or whose end is not stored yet. */
export interface OrderRun {
  /** As this process knows it. */
  record: OrderRecord;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed: boolean;
  /** Whether it is stored as queued. Until then, what is stored of the order counts. */
  isPlaced: boolean;
  /** The order as another run has it; null: this run has it, or had it. */
  elsewhere: OrderRecord | null;
  /** `moved`: another run decides about the order. */
  task: SharedTask<EssayResult | 'moved'>;
  /** Begins a started order, when it is its turn. */
  begin(): void;
  hasBegun: boolean;
  /** Whether it was sent, and so must be completed. */
  isSent: boolean;
  /** What kept it from being sent, other than the generator. */
  refusal: 'unsafe' | 'moved' | null;
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
  /** While that runs: one try at a time. */
  storing: Promise<void> | null;
  /** When it was placed, by `performance.now()`. */
  placedAt: number;
}

interface HoldOptions {
  /** The request that waits for it; null: it was started. */
  request?: RequestContext | null;
  /** Stores it as queued first, unless another run has it. @returns what is stored then @throws StoreError */
  place?: (() => Promise<OrderRecord>) | null;
  isKeyed?: boolean;
}

export type OrderRuns = ReturnType<typeof createOrderRuns>;

/** The orders of this process: it sends them, started ones in their order and some at a time, and stores how they end. */
export function createOrderRuns(options: OrderRunsOptions) {
  const { generator, orders, lease, maxRunning, cancelsSent, reserveCallOf, isWithdrawn, events } = options;
  /** In the order of their arrival. */
  const runs = new Map<string, OrderRun>();
  /** What is called when an order changes, by its key. */
  const listeners = new Map<string, () => void>();
  let isStopping = false;
  /** The orders that were not sent while this process stops. */
  const leftToOthers: OrderName[] = [];

  return {
    hold,
    /** One that is not placed yet is found only if that is wanted. */
    find(id: string, callerId: string, isPlaced = true): OrderRun | undefined {
      const run = runs.get(toOrderKey(id, callerId));
      return run?.isPlaced === false && isPlaced ? undefined : run;
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
    positionOf: (id: string) => names().findIndex((name) => name.id === id),
    names,
    leaveToOthers: (order: OrderName) => void leftToOthers.push(order),
    cancel,
    detach,
    synchronize,
    restore,
    /** Whether the end of a run is stored now. Resolves when it was tried. */
    async isStored(run: OrderRun): Promise<boolean> {
      await tryToStore(run);
      return runs.get(keyOf(run)) !== run;
    },
    listen: (key: string, onChange: () => void) => void listeners.set(key, onChange),
    stopListening: (key: string) => void listeners.delete(key),
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

  /** All orders, for other processes: first those that wait, and those that are being started. */
  function names(starting: Iterable<OrderName> = []): OrderName[] {
    const waiting: OrderName[] = [];
    const others: OrderName[] = [];
    for (const { record, isKeyed, hasBegun, storeEnd } of runs.values()) {
      const isWaiting = !record.isAwaited && !hasBegun && storeEnd === null;
      if (isKeyed) (isWaiting ? waiting : others).push({ id: record.id, callerId: record.caller.id });
    }
    return [...waiting, ...starting, ...others, ...leftToOthers];
  }

  /** Runs an order: at once if a request waits for it, otherwise when it is its turn. */
  function hold(record: OrderRecord, { request = null, place = null, isKeyed = true }: HoldOptions = {}): OrderRun {
    let begin = () => {};
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const task = new SharedTask<EssayResult | 'moved'>(() => turn.then(() => perform(run, request, place)));
    const begun = {
      begin,
      hasBegun: request !== null,
      isPlaced: place === null,
      placedAt: performance.now(),
      elsewhere: null,
    };
    const sending = { isSent: false, refusal: null, stoppedBy: null, storeEnd: null, storing: null };
    const text = { textSoFar: '', textShownAt: 0, storedText: '' };
    const run: OrderRun = { record, isKeyed, task, ...begun, ...sending, ...text };
    runs.set(keyOf(run), run);
    if (request !== null) begin();
    else {
      task.keepAlive();
      if (isStopping) void release(run);
      else startNext();
    }
    return run;
  }

  /** Keeps an order going without its clients. */
  function detach(run: OrderRun, { listed, caller }: OrderRecord): void {
    run.record = { ...run.record, isAwaited: false, listed, caller };
    run.task.keepAlive();
  }

  function listStarted(): OrderRun[] {
    return [...runs.values()].filter(({ record }) => !record.isAwaited);
  }

  function startNext(): void {
    let places = isStopping ? 0 : maxRunning;
    for (const run of runs.values()) {
      if (places === 0) return;
      if (run.record.isAwaited || run.storeEnd !== null) continue;
      run.hasBegun = true;
      run.begin();
      places -= 1;
    }
  }

  /** @throws StoreError, or why its client does not get a result */
  async function perform(
    run: OrderRun,
    request: RequestContext | null,
    place: HoldOptions['place'],
  ): Promise<EssayResult | 'moved'> {
    const { signal } = run.task;
    const { order, caller } = run.record;
    const context = request ?? createRequestContext(signal, caller.id, reserveCallOf(caller));
    let markedAt = 0;
    try {
      if (place) {
        const placed = await place();
        if (placed.run !== run.record.run) return leave(run, placed);
        run.record = placed;
        run.isPlaced = true;
      }
      signal.throwIfAborted();
      const result = await generator.generate(
        order,
        { ...context, signal },
        {
          async maySend() {
            await prepare(run);
            markedAt = performance.now();
            run.refusal ??= await mark(run);
            return run.refusal === null;
          },
          beforeAttempt() {
            // The process may have been suspended since.
            if (performance.now() - markedAt >= leaseMs) run.refusal = 'unsafe';
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

  /** What comes before an order is recorded as sent. @throws the signal's reason */
  async function prepare(run: OrderRun): Promise<void> {
    const { record, isKeyed, task } = run;
    task.signal.throwIfAborted();
    if (!record.isAwaited && isWithdrawn(record.caller)) stop(run, 'withdrawal', new Error(withdrawnFailure.message));
    try {
      if (isKeyed) await lease.settle(task.signal);
      const claimed = isKeyed ? await orders.claim(record) : null;
      if (claimed === 'busy') run.refusal = 'unsafe';
      else if (claimed !== null) {
        const { id, caller } = record;
        run.elsewhere = await orders.change(id, caller.id, { kind: 'answered', own: record, state: claimed });
        run.refusal = 'moved';
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      run.refusal = 'unsafe';
    }
    task.signal.throwIfAborted();
  }

  /** Records the order as sent, and lists it. From now on it is completed. @returns why it must not be sent; null: it may */
  async function mark(run: OrderRun): Promise<OrderRun['refusal']> {
    run.task.keepAlive();
    if (!run.isKeyed) return null;
    const { id, caller } = run.record;
    try {
      // Before it is sent, so that no order is missing from the list that may be paid for.
      const listed =
        run.record.listed ??
        (await orders
          .listOf(caller.id)
          .append(id)
          .catch(() => null));
      const own = { ...run.record, listed };
      let marked = await orders.change(id, caller.id, { kind: 'sending', own, mayBeLost: false });
      if (marked === null && lease.lostAt() >= run.placedAt) {
        await lease.settle(run.task.signal);
        marked = await orders.change(id, caller.id, { kind: 'sending', own, mayBeLost: true });
      }
      if (marked?.run !== own.run || marked.state.kind !== 'sent') return 'moved';
      run.record = marked;
      notify(run);
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
    notify(run);
  }

  function notify(run: OrderRun): void {
    listeners.get(keyOf(run))?.();
  }

  function endWith(run: OrderRun, result: EssayResult): Promise<EssayResult | 'moved'> | 'moved' {
    const { record: own, refusal, isSent } = run;
    if (result.kind === 'essay') {
      return end(run, { kind: 'answered', own, state: { kind: 'finished', essay: result } }, result);
    }
    if (isSent) {
      const failure = refusal === null ? result : null;
      return end(run, { kind: 'answered', own, state: { kind: 'failed', failure } }, failure ?? unknownOutcome);
    }
    if (refusal === 'moved') return leave(run, run.elsewhere);
    if (refusal === 'unsafe') events.essayRejectedWithoutStore();
    const failure = refusal === 'unsafe' ? unsafeOrder : result;
    return end(run, { kind: 'unsent', own, failure }, failure);
  }

  async function endByError(run: OrderRun, error: unknown): Promise<EssayResult | 'moved'> {
    const { record: own, stoppedBy, isSent, isPlaced, refusal } = run;
    if (stoppedBy === 'another run') return leave(run, null);
    if (stoppedBy === 'withdrawal')
      return end(run, { kind: 'unsent', own, failure: withdrawnFailure }, withdrawnFailure);
    if (refusal !== null && stoppedBy === null) return endWith(run, unsafeOrder);
    const isCancelled = stoppedBy === 'cancellation';
    if (!isPlaced || (isCancelled && !isSent)) drop(run);
    else if (isCancelled) {
      await end(run, { kind: 'answered', own, state: { kind: 'cancelled', mayHaveBeenPaid: true } }, null);
    } else {
      const unexpected = isSent ? unexpectedFailure : unexpectedlyUnsent;
      const failure = own.isAwaited ? null : unexpected;
      if (failure !== null) events.unexpectedError(error, own.id);
      const state = { kind: 'failed', failure } as const;
      const ended = await end(
        run,
        isSent ? { kind: 'answered', own, state } : { kind: 'unsent', own, failure },
        failure,
      );
      if (failure !== null) return ended;
    }
    throw error;
  }

  /**
   * Ends an order, and stores that now or else later.
   * @param result for its clients; null: there is none @returns the result: an essay that another run has stored before is not replaced
   */
  async function end(
    run: OrderRun,
    event: Extract<OrderEvent, { kind: 'answered' | 'unsent' }>,
    result: EssayResult | null,
  ): Promise<EssayResult | 'moved'> {
    const { own } = event;
    const { id, caller } = own;
    const essay = result?.kind === 'essay' ? result : null;
    run.record = transition(own, event) ?? own;
    run.storeEnd = async () => {
      if (essay !== null) await orders.writeEssay(essay, caller.id, run.isKeyed ? keyOf(run) : null);
      const stored = run.isKeyed ? await orders.change(id, caller.id, event) : null;
      if (stored === null) return;
      if (essay !== null && stored.run !== own.run && !isSameOrder(stored, own))
        return orders.writeEssay(essay, caller.id, null);
      if (stored.state.kind === 'finished') run.record = stored;
      if (essay !== null && stored.state.kind === 'finished' && stored.state.essay.id !== essay.id)
        events.essayLost(duplicateEssay);
      // It was started while its client left.
      const isStarted = stored.run === own.run && stored.state.kind === 'queued' && !stored.isAwaited;
      if (isStarted && runs.get(keyOf(run)) === run) hold(stored);
    };
    if (!own.isAwaited && isEnded(run.record)) events.essayOrderEnded(id, ...describeEnd(run.record.state));
    notify(run);
    startNext();
    await tryToStore(run, buffer);
    const delivered = run.record.state.kind === 'finished' ? run.record.state.essay : result;
    if (delivered === null) return 'moved';
    events.essayOrdered(delivered.kind === 'essay' && essay === null ? 'from_key' : outcomes[delivered.kind]);
    return delivered;
  }

  function tryToStore(run: OrderRun, onFailure: (run: OrderRun, error: unknown) => void = () => {}): Promise<void> {
    run.storing ??= store(run, onFailure).finally(() => {
      run.storing = null;
    });
    return run.storing;
  }

  async function store(run: OrderRun, onFailure: (run: OrderRun, error: unknown) => void): Promise<void> {
    if (run.storeEnd === null || runs.get(keyOf(run)) !== run) return;
    try {
      await run.storeEnd();
      drop(run);
      notify(run);
    } catch (error) {
      onFailure(run, error);
    }
  }

  /** Keeps in memory what could not be stored. */
  function buffer(run: OrderRun, error: unknown): void {
    const reason = error instanceof StoreError ? error.reason : 'unusable';
    const waiting = [...runs.values()].filter((other) => other !== run && other.storeEnd !== null);
    const hasEssay = ({ record }: OrderRun) => record.state.kind === 'finished';
    if (hasEssay(run) && !waiting.some(hasEssay)) events.essayWriteBuffered(reason);
    const [oldest] = waiting;
    if (waiting.length < maxBuffered || !oldest) return;
    if (hasEssay(oldest)) events.essayLost(reason);
    drop(oldest);
  }

  async function storeEnds(): Promise<void> {
    await Promise.all([...runs.values()].map((run) => run.storeEnd && tryToStore(run)));
  }

  function drop(run: OrderRun): void {
    if (runs.get(keyOf(run)) === run) runs.delete(keyOf(run));
    startNext();
  }

  function leave(run: OrderRun, elsewhere: OrderRecord | null): 'moved' {
    run.elsewhere = elsewhere;
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
    const { isSent } = run;
    // Clients that wait for it with `generateEssay` see it, if it was sent.
    stop(run, 'cancellation', new GatewayError('UPSTREAM_FAILED', cancelledMessage, { service: 'essays' }));
    if (!isSent) events.essayOrderEnded(id, 'cancelled', null);
    notify(run);
    await run.task.settled();
  }

  /** Lets other processes continue an order at once. If the store fails, they do so when this process has no lease. */
  async function release(run: OrderRun): Promise<void> {
    const { id, caller } = run.record;
    const released = await orders.change(id, caller.id, { kind: 'released', own: run.record }).catch(() => null);
    if (run.record.state.kind !== 'queued' || (released !== null && released.process !== null)) return;
    leftToOthers.push({ id, callerId: caller.id });
    stop(run, 'another run', continuedElsewhere);
  }

  function listUnended(): OrderRun[] {
    return [...runs.values()].filter(({ isKeyed, isPlaced, storeEnd }) => isKeyed && isPlaced && storeEnd === null);
  }

  /** Writes what could not be stored, shows other processes the texts so far, and sees what they have changed. */
  async function synchronize(): Promise<void> {
    await storeEnds();
    await Promise.allSettled(listUnended().map(synchronizeOne));
    startNext();
  }

  async function synchronizeOne(run: OrderRun): Promise<void> {
    const { record, hasBegun, isSent, textSoFar, storedText } = run;
    if (!hasBegun && !record.isAwaited && isWithdrawn(record.caller)) {
      return stop(run, 'withdrawal', new Error(withdrawnFailure.message));
    }
    if (isSent && textSoFar !== storedText) {
      await orders.writeTextSoFar(record, textSoFar);
      run.storedText = textSoFar;
    }
    const stored = await orders.read(record.id, record.caller.id);
    if (run.storeEnd !== null) return;
    if (stored === null) {
      // It was cancelled and deleted.
      if (!run.isSent && lease.lostAt() < run.placedAt) stop(run, 'another run', continuedElsewhere);
      return;
    }
    if (stored.run !== record.run && !run.isSent) stop(run, 'another run', continuedElsewhere);
    else if (stored.state.kind === 'cancelled' && !run.isSent) stop(run, 'cancellation', new Error(cancelledMessage));
    // Its end is not awaited: it may take as long as an essay.
    else if (stored.isCancelRequested) void cancel(run).catch(() => {});
    else if (record.isAwaited && !stored.isAwaited && stored.run === record.run) detach(run, stored);
  }

  /** After the store has lost its data, or has failed. @throws StoreError */
  async function restore(): Promise<void> {
    const restoreOne = ({ record }: OrderRun) =>
      orders.change(record.id, record.caller.id, { kind: 'lost', own: record });
    await Promise.all([storeEnds(), ...listUnended().map(restoreOne)]);
  }
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
  outcome: 'unknown',
};

const unexpectedlyUnsent: EssayServiceFailed = {
  kind: 'service-failed',
  message: 'The gateway failed unexpectedly, before the order was sent.',
  code: 'UPSTREAM_UNAVAILABLE',
  retryable: true,
  rawText: null,
};

export const outcomes: Readonly<Record<EssayResult['kind'], EssayOutcome>> = {
  essay: 'generated',
  'invalid-input': 'rejected',
  'allowance-exhausted': 'exhausted',
  'service-failed': 'failed',
};
