import { StoreError } from '../../stores/store.ts';
import type { Essay } from '../port.ts';
import { type OrderRecord, recordKeyOf } from './order.ts';
import { OrderRun, type PartsOfRun, type RunOptions, type RunParts } from './order-run.ts';
import type { Stored } from './order-store.ts';

/**
 * The orders of this process, in the order of their arrival: started ones have their turn, and some run at a time. An end that the store
 * does not accept is kept, and written again.
 */
export class OrderRuns {
  readonly #parts: PartsOfRun;
  readonly #maxRunning: number;
  /** By the keys of their records. */
  readonly #runs = new Map<string, OrderRun>();
  isStopping = false;

  /** @param maxRunning started orders that run at a time */
  constructor({ maxRunning, ...parts }: RunParts & { maxRunning: number }) {
    this.#maxRunning = maxRunning;
    this.#parts = { ...parts, onEnded: (run, failure) => this.#remove(run, failure) };
  }

  find(key: string): OrderRun | undefined {
    return this.#runs.get(key);
  }

  findUnwrittenEssay(essayId: string, callerId: string): Essay | null {
    const isIt = ({ end, record }: OrderRun) => end?.essay?.id === essayId && record.caller.id === callerId;
    return this.#list('unwritten').find(isIt)?.end?.essay ?? null;
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Whether others must know that this process is alive. */
  get hasSent(): boolean {
    return [...this.#runs.values()].some(({ record, stage }) => stage === 'unwritten' || record.state.kind === 'sent');
  }

  run(options: RunOptions): OrderRun {
    const run = new OrderRun(this.#parts, options);
    this.#runs.set(run.key, run);
    return run;
  }

  /** Runs an order that was started, when it is its turn. Has no effect if it runs, or the process stops. */
  enqueue({ text, record }: Stored & { record: OrderRecord }): boolean {
    if (this.isStopping || this.#runs.has(recordKeyOf(record))) return false;
    this.run({ record, seen: { text, record }, request: null });
    this.#beginNext();
    return true;
  }

  /** Started orders of a caller. */
  countOf(callerId: string): number {
    return this.listStarted().filter(({ record }) => record.caller.id === callerId).length;
  }

  /** How many orders have their turn before this one; for one that another process has queued, all that wait. */
  positionOf(key: string): number {
    const run = this.find(key);
    if (run && run.stage !== 'waiting') return 0;
    const waiting = this.listStarted('waiting');
    return run ? waiting.indexOf(run) : waiting.length;
  }

  status() {
    const started = this.listStarted();
    const waiting = this.listStarted('waiting').length;
    const oldest = Math.min(Date.now(), ...started.map(({ record }) => record.createdAt.getTime()));
    return { running: started.length - waiting, waiting, oldestMs: Date.now() - oldest };
  }

  async synchronize(): Promise<void> {
    await Promise.allSettled([...this.#runs.values()].map((run) => run.synchronize()));
    this.#beginNext();
  }

  /** Leaves the started orders that were not sent to other processes, or to the next start, and completes the others. */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const run of this.listStarted('waiting', 'begun')) run.leave();
    await Promise.all(this.listStarted().map(({ task }) => task.settled()));
  }

  /** Waits for the orders that were sent. */
  async settled(): Promise<void> {
    const sent = () => this.#list(...allStages).filter(({ task }) => task.outlivesCallers());
    while (sent().length > 0) await Promise.all(sent().map(({ task }) => task.settled()));
  }

  /** Writes the ends again that the store has not accepted. */
  async writeEnds(): Promise<void> {
    await Promise.all(this.#list('unwritten').map((run) => this.writeEnd(run)));
  }

  /** @returns whether it is written */
  async writeEnd(run: OrderRun): Promise<boolean> {
    if ((await run.write()) !== null) return false;
    if (this.#runs.get(run.key) === run) this.#runs.delete(run.key);
    this.#parts.onChange(run.key);
    return true;
  }

  /** Reports each essay as lost that could not be stored. */
  discardEnds(): void {
    for (const { end, key } of this.#list('unwritten')) {
      if (end?.essay) this.#parts.events.essayLost('the store failed until shutdown');
      this.#runs.delete(key);
    }
  }

  #remove(run: OrderRun, failure: unknown): void {
    if (failure === null) this.#runs.delete(run.key);
    else this.#keep(run, failure instanceof StoreError ? failure.reason : 'unusable');
    this.#parts.onChange(run.key);
    this.#beginNext();
  }

  /** Ends without an essay never replace one. */
  #keep(run: OrderRun, reason: string): void {
    const { events } = this.#parts;
    const hasEssay = ({ end }: OrderRun) => end?.essay != null;
    const others = this.#list('unwritten').filter((other) => hasEssay(other) === hasEssay(run));
    run.stage = 'unwritten';
    const [oldest] = others;
    if (hasEssay(run) && !oldest) events.essayWriteBuffered(reason);
    if (!oldest || others.length < maxUnwritten) return;
    if (hasEssay(oldest)) events.essayLost(reason);
    this.#runs.delete(oldest.key);
  }

  #list(...stages: OrderRun['stage'][]): OrderRun[] {
    return [...this.#runs.values()].filter(({ stage }) => stages.includes(stage));
  }

  listStarted(...stages: OrderRun['stage'][]): OrderRun[] {
    return this.#list(...(stages.length === 0 ? allStages : stages)).filter(({ record }) => !record.isAwaited);
  }

  #beginNext(): void {
    if (this.isStopping) return;
    const free = this.#maxRunning - this.listStarted('begun', 'sent').length;
    for (const run of this.listStarted('waiting').slice(0, Math.max(0, free))) run.begin();
  }
}

/** Those of orders that have not ended. */
const allStages = ['waiting', 'begun', 'sent'] as const;
/** Number of essays, of about 15 kB each, and of other ends. */
const maxUnwritten = 2_000;
