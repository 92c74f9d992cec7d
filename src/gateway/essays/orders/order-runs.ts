import type { RequestContext } from '../../request-context.ts';
import { type OrderName, type OrderRecord, recordKeyOf, toRecordKey } from './order.ts';
import { OrderRun, type RunParts } from './order-run.ts';
import type { Stored } from './order-store.ts';

interface OrderRunsOptions extends Omit<RunParts, 'onEnded'> {
  /** Started orders that this process runs at a time. */
  maxRunning: number;
}

/** The orders of this process, in the order of their arrival: started ones have their turn, and some run at a time. */
export class OrderRuns {
  readonly #parts: RunParts;
  readonly #maxRunning: number;
  readonly #runs = new Map<string, OrderRun>();
  isStopping = false;

  constructor({ maxRunning, ...parts }: OrderRunsOptions) {
    this.#maxRunning = maxRunning;
    this.#parts = { ...parts, onEnded: (run) => this.#remove(run) };
  }

  find(name: OrderName): OrderRun | undefined {
    return this.#runs.get(toRecordKey(name));
  }

  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  /** Whether orders are stored as sent by this process. */
  get hasSent(): boolean {
    return [...this.#runs.values()].some(({ record }) => record.state.kind === 'sent');
  }

  /** Runs an order for a request that waits for it. */
  runFor(request: RequestContext, record: OrderRecord, seen: Stored, isKeyed: boolean): OrderRun {
    return this.#add(new OrderRun(this.#parts, record, { seen, request, isKeyed }));
  }

  /** Runs an order that was started, when it is its turn. Has no effect if it runs, or the process stops. */
  enqueue({ text, record }: Stored & { record: OrderRecord }): boolean {
    if (this.isStopping || this.#runs.has(recordKeyOf(record))) return false;
    this.#add(new OrderRun(this.#parts, record, { seen: { text, record }, request: null }));
    this.#beginNext();
    return true;
  }

  /** Started orders of a caller. */
  countOf(callerId: string): number {
    return this.#listStarted().filter(({ record }) => record.caller.id === callerId).length;
  }

  /** How many orders have their turn before this one; for one that another process has queued, all that wait. */
  positionOf(name: OrderName): number {
    const run = this.find(name);
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

  /** Writes the texts so far, and sees what other processes have changed. */
  async synchronize(): Promise<void> {
    await Promise.allSettled([...this.#runs.values()].map((run) => run.synchronize()));
    this.#beginNext();
  }

  /** Leaves what waits here and was sent or ended by another process. @throws StoreError */
  async noticeOthers(): Promise<void> {
    await Promise.all(this.#listStarted('waiting').map((run) => run.noticeOthers()));
  }

  /** Leaves the started orders that were not sent to other processes, or to the next start, and completes the others. */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const run of this.#listStarted('waiting', 'begun')) run.leave();
    await Promise.all(this.#listStarted().map(({ task }) => task.settled()));
  }

  /** Waits for the orders that were sent. */
  async settled(): Promise<void> {
    const sent = () => [...this.#runs.values()].filter(({ task }) => task.outlivesCallers());
    while (sent().length > 0) await Promise.all(sent().map(({ task }) => task.settled()));
  }

  #add(run: OrderRun): OrderRun {
    this.#runs.set(run.key, run);
    return run;
  }

  #remove(run: OrderRun): void {
    if (this.#runs.get(run.key) === run) this.#runs.delete(run.key);
    this.#beginNext();
  }

  #listStarted(...stages: OrderRun['stage'][]): OrderRun[] {
    const isListed = ({ record, stage }: OrderRun) =>
      !record.isAwaited && (stages.length === 0 || stages.includes(stage));
    return [...this.#runs.values()].filter(isListed);
  }

  #beginNext(): void {
    if (this.isStopping) return;
    const free = this.#maxRunning - this.#listStarted('begun', 'sent').length;
    for (const run of this.#listStarted('waiting').slice(0, Math.max(0, free))) run.begin();
  }
}
