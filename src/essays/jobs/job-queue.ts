import { randomUUID } from 'node:crypto';
import { AbortableSignal } from '../../async/signal.ts';
import { createRequestContext, type ReserveCall } from '../../request-context.ts';
import type { Events } from '../../telemetry/events.ts';
import type { EssayGenerator, EssayJobState, JobCaller } from '../essays.ts';
import type { IdempotentEssays } from '../orders/idempotency.ts';
import { type JobEnd, type JobRecord, type JobRecords, toJobKey } from './job-records.ts';

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
  isSentHere: boolean;
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

/** The jobs of this process: it runs them in their order, some at a time. */
export function createJobQueue(options: JobQueueOptions) {
  const { essays, records, maxRunning, cancelsSent, reserveCallOf, events } = options;
  const owner = randomUUID();
  /** By store key, in the order of their arrival. */
  const jobs = new Map<string, QueuedJob>();
  const listeners: ((key: string) => void)[] = [];
  let isStopping = false;

  return {
    owner,
    add,
    beat,
    state: (key: string) => stateOf(jobs.get(key)),
    has: (key: string) => jobs.has(key),
    /** Jobs of a caller in this process. */
    countOf: (callerId: string) => [...jobs.values()].filter(({ record }) => record.caller.id === callerId).length,
    cancel,
    synchronize,
    onChanged: (listener: (key: string) => void) => void listeners.push(listener),
    status() {
      const unended = [...jobs.values()].filter(({ record }) => record.end === null);
      const running = unended.filter(({ isRunning }) => isRunning).length;
      const oldest = Math.min(Date.now(), ...unended.map(({ record }) => record.createdAt.getTime()));
      return { running, waiting: unended.length - running, oldestMs: Date.now() - oldest };
    },
    /** Leaves the jobs that were not sent to other processes, or to the next start. Completes those that were sent. */
    async stop(): Promise<void> {
      isStopping = true;
      const left = [...jobs.values()].filter(({ isSentHere, record }) => !isSentHere && record.end === null);
      for (const job of left) release(job);
      // Where this fails, other processes continue them when there is no heartbeat any more.
      await Promise.all(left.map(({ record }) => records.write({ ...record, owner: noOwner }).catch(() => {})));
      await Promise.all([...jobs.values()].map(({ ended }) => ended));
      await Promise.all([...jobs.values()].map(storeEnd));
    },
    /** After the last `synchronize`. */
    endHeartbeat: () => records.eraseHeartbeat(owner).catch(() => {}),
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
    jobs.set(key, {
      key,
      record,
      isRunning: false,
      isSent: sentText !== null,
      isSentHere: false,
      textSoFar: sentText ?? '',
      textShownAt: 0,
      storedText: sentText,
      isCancelled: false,
      signal: new AbortableSignal(),
      ended,
      resolveEnded,
    });
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
    const context = createRequestContext(job.signal, caller.id, reserveCallOf(caller));
    const progress: Parameters<EssayGenerator['generate']>[2] = {
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
      else if (isStopping) release(job);
      else {
        events.unexpectedError(error, job.record.id);
        await finish(job, { kind: 'failed', failure: unexpectedFailure });
      }
    }
  }

  async function finish(job: QueuedJob, end: JobEnd): Promise<void> {
    job.record = { ...job.record, end };
    const code = end.kind === 'failed' ? ('code' in end.failure ? end.failure.code : 'BAD_USER_INPUT') : null;
    events.essayJobEnded(job.record.id, end.kind, code);
    changed(job);
    startNext();
    await storeEnd(job);
    job.resolveEnded();
  }

  /** Tried again by `synchronize` until it works. */
  async function storeEnd(job: QueuedJob): Promise<void> {
    try {
      await records.write(job.record);
      jobs.delete(job.key);
      await records.pending.remove(job.record.pending);
    } catch {
      // The job remains in memory.
    }
  }

  function release(job: QueuedJob): void {
    jobs.delete(job.key);
    job.signal.abort(new Error('The gateway is stopping.'));
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
    const waiting = [...jobs.values()].filter(({ record, isRunning }) => record.end === null && !isRunning);
    await records.writeHeartbeat(owner, { waiting: waiting.slice(0, maxShown).map(({ key }) => key) });
  }

  /** Shows other processes what happens here, and does what they ask for. @throws StoreError */
  async function synchronize(): Promise<void> {
    if (jobs.size === 0) return;
    const unended = [...jobs.values()].filter(({ record }) => record.end === null);
    await Promise.all([
      beat(),
      ...[...jobs.values()].filter(({ record }) => record.end !== null).map(storeEnd),
      ...unended.map(async (job) => {
        if (await records.isCancelRequested(job.key)) await cancel(job.key);
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
    const unended = [...jobs.values()].filter(({ record }) => record.end === null);
    const position = unended.filter(({ isRunning }) => !isRunning).indexOf(job);
    return { kind: 'queued', position: Math.max(0, position) };
  }
}

/** Has no heartbeat, so that another process continues the job at once. */
const noOwner = 'none';

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
