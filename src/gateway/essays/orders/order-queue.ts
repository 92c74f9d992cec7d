import { type Events, ignore } from '../../telemetry/events.ts';
import { isEnded, type OrderRecord, recordKeyOf, toRecordKey } from './order.ts';
import { OrderRun, type RunOptions, type RunParts } from './order-run.ts';
import type { Stored } from './order-store.ts';

export interface QueueOptions extends Omit<RunParts, 'onEnded'> {
  /** Started orders that run at a time. */
  maxRunning: number;
  /** Looks for changes by other processes. */
  refresh: () => Promise<unknown>;
  events: RunParts['events'] & Pick<Events, 'essayOrdersAdopted'>;
}

/**
 * The orders of this process, in the order of their arrival: started ones have their turn, and some run at a time. An end that the store
 * does not accept is kept, and written again. Orders that other processes have left are found, and started ones continued.
 */
export class OrderQueue {
  readonly #options: QueueOptions;
  readonly #parts: RunParts;
  /** By the keys of their records. */
  readonly #runs = new Map<string, OrderRun>();
  /** Orders that ended here and were not sent, because the store fails or another process sends them: they are not tried again before the next sweep. */
  readonly #postponed = new Set<string>();
  /** Orders that this process continues, and has not reported yet. */
  #adopted = 0;
  /** Whether it looks for orders that others have left. */
  #isSweeping = false;
  #isStopping = false;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  readonly #tasks: { every: number; run: () => void }[];

  constructor(options: QueueOptions) {
    const { records, refresh } = options;
    this.#options = options;
    this.#parts = { ...options, onEnded: (run) => this.#remove(run) };
    // Each by itself: a slow one must not delay the sign of life.
    this.#tasks = [
      { every: 1, run: oneAtATime(async () => this.#isBusy() && records.owner.prove()) },
      { every: 2, run: oneAtATime(() => records.writeEnds()) },
      { every: 2, run: oneAtATime(() => this.#synchronize()) },
      { every: 2, run: oneAtATime(refresh) },
      { every: 4, run: oneAtATime(() => this.#sweep()) },
    ];
  }

  /** Looks for orders of processes that have stopped, and of earlier starts. */
  begin(): void {
    this.#isSweeping = true;
    this.#startTimer();
    for (const { run } of this.#tasks) run();
  }

  find(key: string): OrderRun | undefined {
    return this.#runs.get(key);
  }

  /** Runs an order: at once, or, if no request waits for it, when it is its turn. */
  run(options: RunOptions): OrderRun {
    const run = new OrderRun(this.#parts, options);
    this.#runs.set(run.key, run);
    this.#startTimer();
    if (options.request !== null) run.begin();
    else this.#beginNext();
    return run;
  }

  /** Runs an order that was started. Has no effect if it runs, or the process stops. */
  enqueue(record: OrderRecord, seen: Stored): boolean {
    if (this.#isStopping || this.#runs.has(recordKeyOf(record))) return false;
    this.run({ record, seen, request: null });
    return true;
  }

  /** Started orders of a caller. */
  countOf(callerId: string): number {
    return this.#listStarted().filter(({ record }) => record.caller.id === callerId).length;
  }

  /** How many orders have their turn before this one; for one that another process has queued, all that wait. */
  positionOf(key: string): number {
    const run = this.find(key);
    if (run && run.stage !== 'waiting') return 0;
    const waiting = this.#listStarted('waiting');
    return run ? waiting.indexOf(run) : waiting.length;
  }

  status() {
    const started = this.#listStarted();
    const waiting = this.#listStarted('waiting').length;
    const oldest = Math.min(Date.now(), ...started.map(({ record }) => record.createdAt.getTime()));
    return { running: started.length - waiting, waiting, oldestMs: Date.now() - oldest };
  }

  /**
   * Leaves the started orders that were not sent to other processes, or to the next start, and completes all that were sent. What
   * could not be stored is written once more.
   */
  async stop(): Promise<void> {
    this.#isSweeping = false;
    this.#isStopping = true;
    for (const run of this.#listStarted('waiting', 'begun')) run.leave();
    const kept = () => [...this.#runs.values()].filter(({ needsClients }) => !needsClients);
    while (kept().length > 0) await Promise.all(kept().map(({ ended }) => ended));
    await this.#options.records.writeEnds();
  }

  /** Stops, then reports each essay as lost that could not be stored. */
  async close(): Promise<void> {
    await this.stop();
    this.#options.records.discardEnds();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** What is stored of an order, or how it is here. One whose owner has died has failed; one that was not sent is queued here. @throws StoreError */
  async read(key: string): Promise<Stored> {
    const here = this.#runs.get(key);
    // Its end is not shown before it was tried to store it.
    if (here?.record.state.kind === 'sent') return { text: null, record: here.record };
    const stored = await this.#options.records.read(key);
    const { record } = stored;
    if (this.#runs.has(key)) return stored;
    if (record?.state.kind === 'sent') return this.#endDead(stored, record, record.state.owner);
    const mayRun = this.#isSweeping && !this.#postponed.has(key) && !this.#options.records.isUnwritten(key);
    if (record?.state.kind === 'queued' && mayRun && this.enqueue(record, stored)) this.#adopted += 1;
    return stored;
  }

  /** Ends an order that was sent, if its owner has died. One of this process without a run was stored by a write that seemed to fail. */
  async #endDead(stored: Stored, record: OrderRecord, owner: string): Promise<Stored> {
    const { records } = this.#options;
    if (owner !== records.owner.id && (await records.owner.isAlive(owner))) return stored;
    const changed = await records.change(recordKeyOf(record), { kind: 'owner-died', run: record.run });
    if (!changed.isChanged) return changed;
    if (!record.isAwaited) this.#adopted += 1;
    return changed;
  }

  #remove(run: OrderRun): void {
    this.#runs.delete(run.key);
    if (run.stage !== 'sent' && this.#isSweeping) this.#postponed.add(run.key);
    this.#options.onChange(run.key);
    this.#beginNext();
  }

  #listStarted(...stages: OrderRun['stage'][]): OrderRun[] {
    const isIt = ({ record, stage }: OrderRun) => !record.isAwaited && (stages.length === 0 || stages.includes(stage));
    return [...this.#runs.values()].filter(isIt);
  }

  async #synchronize(): Promise<void> {
    await Promise.allSettled([...this.#runs.values()].map((run) => run.synchronize()));
    this.#beginNext();
  }

  async #sweep(): Promise<void> {
    if (!this.#isSweeping) return;
    this.#postponed.clear();
    const { records, events } = this.#options;
    const { open, skipUnreadable } = records;
    await Promise.all(this.#listStarted('waiting').map((run) => this.#leaveToOthers(run)));
    await open.sweep(({ id, callerId }, isNew) => this.#isOpen(toRecordKey(id, callerId), isNew), skipUnreadable);
    if (this.#adopted > 0) events.essayOrdersAdopted(this.#adopted);
    this.#adopted = 0;
  }

  /** An order that waits here may have been sent by another process, which may also have taken it out of the list. */
  async #leaveToOthers(run: OrderRun): Promise<void> {
    const { records } = this.#options;
    const stored = await records.read(run.key).catch(records.skipUnreadable);
    if (stored !== null && run.stage === 'waiting' && stored.record?.run !== run.record.run) run.leave();
  }

  /** Looks at an order of the list of open ones. */
  async #isOpen(key: string, isNew: boolean): Promise<boolean> {
    const isHere = this.#runs.has(key) || this.#options.records.isUnwritten(key);
    if (isHere || this.#runs.size >= maxRuns) return true;
    const { record } = await this.read(key);
    return record === null ? isNew : !isEnded(record);
  }

  /** Whether others must know that this process is alive. */
  #isBusy(): boolean {
    return this.#runs.size > 0 || this.#options.records.hasUnwritten;
  }

  #startTimer(): void {
    this.#timer ??= setInterval(() => {
      this.#ticks += 1;
      for (const { every, run } of this.#tasks) if (this.#ticks % every === 0) run();
      if (this.#isSweeping || this.#isBusy()) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, tickMs).unref();
  }

  #beginNext(): void {
    if (this.#isStopping) return;
    const free = this.#options.maxRunning - this.#listStarted('begun', 'sent').length;
    for (const run of this.#listStarted('waiting').slice(0, Math.max(0, free))) run.begin();
  }
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

/** Orders of one process. Others remain in the list of open orders. */
const maxRuns = 1_000;
const tickMs = 500;
