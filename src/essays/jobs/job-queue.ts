import { randomUUID } from 'node:crypto';
import { AbortableSignal } from '../../async/signal.ts';
import { createRequestContext, type ReserveCall } from '../../request-context.ts';
import type { Events } from '../../telemetry/events.ts';
import type { EssayJobState, JobCaller, OrderProgress } from '../essays.ts';
import type { IdempotentEssays } from '../orders/idempotency.ts';
import { heartbeatExpiresInMs, type JobEnd, type JobRecord, type JobRecords, toJobKey } from './job-records.ts';

export interface JobQueueOptions {
  essays: Pick<IdempotentEssays, 'generate' | 'abort'>;
  records: JobRecords;
  /** Jobs that this process runs at a time. */
  maxRunning: number;
  /** Whether a job that was sent is cancelled as well. Its essay is paid for and lost. */
  cancelsSent: boolean;
  /** Counts a paid call in the budget of the caller; null: the caller has none. */
  reserveCallOf: (caller: JobCaller) => ReserveCall | null;
  events: Pick<Events, 'essayJobEnded' | 'unexpectedError'>;
}

/** A job of this process that has not ended, or whose end is not stored yet. */
interface QueuedJob {
  key: string;
  record: JobRecord;
  isRunning: boolean;
  /** Perhaps by a process that ran the job before. */
  isSent: boolean;
  /** Whether this process sent it, and so must complete it. */
  isSentHere: boolean;
  /** Whether another process runs it from now on, or will. */
  isLeft: boolean;
  textSoFar: string;
  /** When watchers were last woken because of it, by `performance.now()`. */
  textShownAt: number;
  /** The text that other processes can read; null before it was sent. */
  storedText: string | null;
  isCancelled: boolean;
  signal: AbortableSignal;
  /** Resolves when its end is stored, or was tried to be. */
  ended: Promise<void>;
  resolveEnded: () => void;
}

export type JobQueue = ReturnType<typeof createJobQueue>;

/** The jobs of this process: it runs them in their order, some at a time. */
export function createJobQueue(options: JobQueueOptions) {
  const { essays, records, maxRunning, cancelsSent, reserveCallOf, events } = options;
  const owner = randomUUID();
  /** By store key, in the order of their arrival. */
  const jobs = new Map<string, QueuedJob>();
  const listeners: ((key: string) => void)[] = [];
  /** Positions of the waiting jobs; null: they have changed. */
  let positions: Map<string, number> | null = null;
  let isStopping = false;
  /** Whether it has no heartbeat any more. */
  let isEnded = false;
  let beats = 0;
  /** When the last heartbeat began, by `performance.now()`. */
  let beatAt = Number.NEGATIVE_INFINITY;

  return {
    owner,
    add,
    beat,
    /** Beats, if there are jobs. @throws StoreError */
    beatWhileBusy: async () => (jobs.size === 0 ? undefined : beat()),
    state: (key: string) => stateOf(jobs.get(key)),
    has: (key: string) => jobs.has(key),
    isStopping: () => isStopping,
    /** Jobs of a caller in this process. */
    countOf(callerId: string): number {
      let count = 0;
      for (const { record } of jobs.values()) if (record.caller.id === callerId) count += 1;
      return count;
    },
    cancel,
    synchronize,
    onChanged: (listener: (key: string) => void) => void listeners.push(listener),
    status() {
      const unended = [...jobs.values()].filter(({ record }) => record.end === null);
      const running = unended.filter(({ isRunning }) => isRunning).length;
      const oldest = Math.min(Date.now(), ...unended.map(({ record }) => record.createdAt.getTime()));
      return { running, waiting: unended.length - running, oldestMs: Date.now() - oldest };
    },
    /** Leaves the jobs that were not sent to other processes, or to the next start. Those that were sent are completed. */
    async stop(): Promise<void> {
      isStopping = true;
      const left = [...jobs.values()].filter(({ isSentHere, record }) => !isSentHere && record.end === null);
      await Promise.all(left.map(release));
      await Promise.all([...jobs.values()].map(({ ended }) => ended));
      await Promise.all([...jobs.values()].map(storeEnd));
    },
    /** After the last `synchronize`. */
    async endHeartbeat(): Promise<void> {
      isEnded = true;
      await records.eraseHeartbeat(owner).catch(() => {});
    },
  };

  /** @param sentText the text so far if another process has sent it; null: it was not sent */
  function add(record: JobRecord, sentText: string | null = null): void {
    const key = toJobKey(record.id, record.caller.id);
    // While this process stops, jobs are left to others.
    if (isStopping || jobs.has(key)) return;
    let resolveEnded = () => {};
    const ended = new Promise<void>((resolve) => {
      resolveEnded = resolve;
    });
    const flags = { isRunning: false, isSent: sentText !== null, isSentHere: false, isLeft: false, isCancelled: false };
    const progress = { ...flags, textSoFar: sentText ?? '', textShownAt: 0, storedText: sentText };
    jobs.set(key, { key, record, ...progress, signal: new AbortableSignal(), ended, resolveEnded });
    positions = null;
    startNext();
  }

  function startNext(): void {
    let running = 0;
    for (const job of jobs.values()) {
      if (isStopping || running >= maxRunning) return;
      if (job.record.end !== null) continue;
      running += 1;
      if (!job.isRunning) void run(job);
    }
  }

  async function run(job: QueuedJob): Promise<void> {
    const { caller, order } = job.record;
    job.isRunning = true;
    positions = null;
    const context = createRequestContext(job.signal, caller.id, reserveCallOf(caller));
    const progress: OrderProgress = {
      onSent() {
        job.isSent = true;
        job.isSentHere = true;
        changed(job);
      },
      onText(textSoFar) {
        job.textSoFar = textSoFar;
        // Later pieces are seen when all watched jobs are read again.
        if (performance.now() - job.textShownAt < showTextEveryMs) return;
        job.textShownAt = performance.now();
        changed(job);
      },
    };
    try {
      const result = await essays.generate(order, context, progress);
      const end: JobEnd =
        result.kind === 'essay' ? { kind: 'finished', essayId: result.id } : { kind: 'failed', failure: result };
      await finish(job, end);
    } catch (error) {
      if (job.isCancelled) await finish(job, { kind: 'cancelled', mayHaveBeenPaid: job.isSent });
      else if (!job.isLeft) {
        events.unexpectedError(error, job.record.id);
        await finish(job, { kind: 'failed', failure: unexpectedFailure });
      }
    }
  }

  async function finish(job: QueuedJob, end: JobEnd): Promise<void> {
    if (job.isLeft) return;
    job.record = { ...job.record, end };
    positions = null;
    const code = end.kind === 'failed' ? ('code' in end.failure ? end.failure.code : 'BAD_USER_INPUT') : null;
    events.essayJobEnded(job.record.id, end.kind, code);
    changed(job);
    startNext();
    await storeEnd(job);
    job.resolveEnded();
  }

  /** Tried again by `synchronize` until it works. A job that another process has ended keeps that end, unless it lacks the essay. */
  async function storeEnd(job: QueuedJob): Promise<void> {
    const { key, record } = job;
    try {
      const isBetter = (end: JobEnd | null) =>
        end === null || (end.kind !== 'finished' && record.end?.kind === 'finished');
      await records.change(key, (current) => (current === null || isBetter(current.end) ? record : null));
      jobs.delete(key);
      await Promise.all([records.pending.remove(record.pending), records.eraseRun(key)]);
    } catch {
      // The job remains in memory.
    }
  }

  /** Lets other processes continue a job at once. */
  async function release(job: QueuedJob): Promise<void> {
    leave(job);
    const isOwn = (current: JobRecord | null) => current?.owner === owner && current.end === null;
    // If the store fails, they continue it when this process has no heartbeat.
    await records
      .change(job.key, (current) => (isOwn(current) ? { ...job.record, owner: null } : null))
      .catch(() => {});
  }

  function leave(job: QueuedJob): void {
    job.isLeft = true;
    jobs.delete(job.key);
    positions = null;
    job.signal.abort(new Error('Another process continues the order.'));
    job.resolveEnded();
  }

  function changed({ key }: QueuedJob): void {
    for (const listener of listeners) listener(key);
  }

  /** @returns false if it was sent and continues, or is not a job of this process */
  async function cancel(key: string): Promise<boolean> {
    const job = jobs.get(key);
    if (job === undefined || job.record.end !== null || (job.isSent && !cancelsSent)) return false;
    job.isCancelled = true;
    const reason = new Error('The order was cancelled.');
    if (!job.isRunning) await finish(job, { kind: 'cancelled', mayHaveBeenPaid: job.isSent });
    else if (job.isSentHere) essays.abort(job.record.order, job.record.caller.id, reason);
    else job.signal.abort(reason);
    await job.ended;
    return true;
  }

  /** Shows other processes that this one runs its jobs, and which of them wait. @throws StoreError */
  async function beat(): Promise<void> {
    if (isEnded) return;
    const beganAt = performance.now();
    beats += 1;
    await records.writeHeartbeat(owner, { beats, waiting: [...positionsOf().keys()].slice(0, maxShown) });
    const isLate = beganAt - beatAt > heartbeatExpiresInMs / 2;
    beatAt = beganAt;
    if (isLate) await reclaim();
  }

  /** After a pause without heartbeats: leaves the jobs that other processes have continued, and takes back those that were sent. */
  async function reclaim(): Promise<void> {
    const unended = [...jobs.values()].filter(({ record }) => record.end === null);
    await Promise.all(
      unended.map(async (job) => {
        const current = await records.read(job.key);
        if (current === null || current.owner === owner) return;
        if (!job.isSentHere) leave(job);
        else await records.change(job.key, (current) => (current?.end === null ? { ...current, owner } : null));
      }),
    );
  }

  /** Shows other processes the texts so far, and does what they ask for. @throws StoreError */
  async function synchronize(): Promise<void> {
    const unended = [...jobs.values()].filter(({ record }) => record.end === null);
    await Promise.allSettled([
      ...[...jobs.values()].filter(({ record }) => record.end !== null).map(storeEnd),
      ...unended.map(async (job) => {
        // Its end is not awaited: it may take as long as an essay.
        if (await records.isCancelRequested(job.key)) void cancel(job.key);
      }),
      ...unended.map(async (job) => {
        const { key, isSent, textSoFar, storedText } = job;
        if (!isSent || textSoFar === storedText) return;
        await records.writeText(key, textSoFar);
        job.storedText = textSoFar;
      }),
    ]);
    startNext();
  }

  function stateOf(job: QueuedJob | undefined): EssayJobState | null {
    if (job === undefined) return null;
    if (job.record.end !== null) return job.record.end;
    if (job.isSent) return { kind: 'writing', textSoFar: job.textSoFar };
    return { kind: 'queued', position: positionsOf().get(job.key) ?? 0 };
  }

  function positionsOf(): Map<string, number> {
    if (positions !== null) return positions;
    const waiting = [...jobs.values()].filter(({ record, isRunning }) => record.end === null && !isRunning);
    positions = new Map(waiting.map(({ key }, index) => [key, index]));
    return positions;
  }
}

/** A model writes dozens of pieces a second. */
const showTextEveryMs = 250;

/** Waiting jobs whose position other processes can show. */
const maxShown = 1_000;

const unexpectedFailure = {
  kind: 'service-failed',
  message: 'The gateway failed unexpectedly. The order may have been paid for.',
  code: 'UPSTREAM_FAILED',
  retryable: false,
  rawText: null,
} as const;
