import { randomUUID } from 'node:crypto';
import { AbortableSignal } from '../../../base/async/signal.ts';
import { GatewayError } from '../../../base/errors.ts';
import { createRequestContext, type ReserveCall } from '../../request-context.ts';
import type { Events } from '../../telemetry/events.ts';
import type { EssayJobState, EssayResult, JobCaller, OrderProgress } from '../essays.ts';
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
  /** Whether the caller may not order any more. */
  isWithdrawn: (caller: JobCaller) => boolean;
  /** Called when the state of a job has changed. */
  onChanged: (key: string) => void;
  events: Pick<Events, 'essayJobEnded' | 'unexpectedError'>;
}

/** A job of this process that has not ended, or whose end is not stored yet. */
interface QueuedJob {
  key: string;
  record: JobRecord;
  /** Resolves when its end is stored, or was tried to be; null: it waits. */
  running: Promise<void> | null;
  /** Perhaps by a process that ran the job before. */
  isSent: boolean;
  /** Whether this process sent it, and so must complete it. */
  isSentHere: boolean;
  textSoFar: string;
  /** When watchers were last woken because of it, by `performance.now()`. */
  textShownAt: number;
  /** The text that other processes can read; null before it was sent. */
  storedText: string | null;
  /** Why it ends although it has no result; null: it goes on. */
  stoppedBy: 'cancellation' | 'withdrawal' | null;
  signal: AbortableSignal;
}

export type JobQueue = ReturnType<typeof createJobQueue>;

/** The jobs of this process: it runs them in their order, some at a time. */
export function createJobQueue(options: JobQueueOptions) {
  const { essays, records, maxRunning, cancelsSent, reserveCallOf, isWithdrawn, onChanged, events } = options;
  const owner = randomUUID();
  /** By store key, in the order of their arrival. */
  const jobs = new Map<string, QueuedJob>();
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
    status() {
      const unended = listUnended();
      const running = unended.filter(({ running }) => running !== null).length;
      const oldest = Math.min(Date.now(), ...unended.map(({ record }) => record.createdAt.getTime()));
      return { running, waiting: unended.length - running, oldestMs: Date.now() - oldest };
    },
    /** Leaves the jobs that were not sent to other processes, or to the next start. Those that were sent are completed. */
    async stop(): Promise<void> {
      isStopping = true;
      const left = listUnended().filter(({ isSentHere }) => !isSentHere);
      await Promise.all(left.map(release));
      await Promise.all([...jobs.values()].map(({ running }) => running));
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
    jobs.set(key, {
      key,
      record,
      running: null,
      isSent: sentText !== null,
      isSentHere: false,
      textSoFar: sentText ?? '',
      textShownAt: 0,
      storedText: sentText,
      stoppedBy: null,
      signal: new AbortableSignal(),
    });
    startNext();
  }

  function startNext(): void {
    positions = null;
    if (isStopping) return;
    for (const job of listUnended().slice(0, maxRunning)) job.running ??= run(job);
  }

  function listUnended(): QueuedJob[] {
    return [...jobs.values()].filter(({ record }) => record.end === null);
  }

  async function run(job: QueuedJob): Promise<void> {
    const { caller, order } = job.record;
    const context = createRequestContext(job.signal, caller.id, reserveCallOf(caller));
    const progress: OrderProgress = {
      beforeSend() {
        if (!isWithdrawn(caller)) return;
        job.stoppedBy = 'withdrawal';
        job.signal.abort(new Error(withdrawnFailure.message));
      },
      onSent() {
        job.isSent = true;
        job.isSentHere = true;
        onChanged(job.key);
      },
      onText(textSoFar) {
        job.textSoFar = textSoFar;
        // Later pieces are seen when all watched jobs are read again.
        if (performance.now() - job.textShownAt < showTextEveryMs) return;
        job.textShownAt = performance.now();
        onChanged(job.key);
      },
    };
    try {
      await finish(job, toEnd(await essays.generate(order, context, progress)));
    } catch (error) {
      if (job.stoppedBy !== null) return finish(job, endOfStopped(job));
      if (isLeft(job)) return;
      events.unexpectedError(error, job.record.id);
      await finish(job, { kind: 'failed', failure: unexpectedFailure });
    }
  }

  /** Whether another process runs it from now on, or will. */
  function isLeft(job: QueuedJob): boolean {
    return jobs.get(job.key) !== job;
  }

  async function finish(job: QueuedJob, end: JobEnd): Promise<void> {
    if (isLeft(job)) return;
    job.record = { ...job.record, end };
    const code = end.kind === 'failed' ? ('code' in end.failure ? end.failure.code : 'BAD_USER_INPUT') : null;
    events.essayJobEnded(job.record.id, end.kind, code);
    onChanged(job.key);
    startNext();
    await storeEnd(job);
  }

  /** Tried again by `synchronize` until it works. A job that another process has ended keeps that end, unless it lacks the essay. */
  async function storeEnd(job: QueuedJob): Promise<void> {
    const { key, record } = job;
    try {
      const isBetter = ({ end, isAwaited }: JobRecord) =>
        !isAwaited && (end === null || (end.kind !== 'finished' && record.end?.kind === 'finished'));
      await records.change(key, (current) => (current === null || isBetter(current) ? record : null));
      jobs.delete(key);
      await records.pending.remove(record.pending);
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
    jobs.delete(job.key);
    positions = null;
    job.signal.abort(new Error('Another process continues the order.'));
  }

  /** Has no effect if it was sent and must continue, or is not a job of this process. Resolves when its end is stored. */
  async function cancel(key: string): Promise<void> {
    const job = jobs.get(key);
    if (job === undefined || job.record.end !== null || (job.isSent && !cancelsSent)) return;
    job.stoppedBy = 'cancellation';
    if (job.running === null) return finish(job, endOfStopped(job));
    // Clients that wait for it with `generateEssay` see it.
    const reason = new GatewayError('UPSTREAM_FAILED', cancelledMessage, { service: 'essays' });
    if (job.isSentHere) essays.abort(job.record.order, job.record.caller.id, reason);
    else job.signal.abort(reason);
    await job.running;
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
    await Promise.all(
      listUnended().map(async (job) => {
        const current = await records.read(job.key);
        if (current === null || current.owner === owner) return;
        if (!job.isSentHere) leave(job);
        else await records.change(job.key, (current) => (current?.end === null ? { ...current, owner } : null));
      }),
    );
  }

  /** Shows other processes the texts so far, and does what they ask for. @throws StoreError */
  async function synchronize(): Promise<void> {
    const unended = listUnended();
    await Promise.allSettled([
      ...[...jobs.values()].filter(({ record }) => record.end !== null).map(storeEnd),
      ...unended.map(async (job) => {
        // Its end is not awaited: it may take as long as an essay.
        if (await records.isCancelRequested(job.key)) void cancel(job.key);
      }),
      // One that runs is examined before it is sent.
      ...unended
        .filter(({ running, isSent, record }) => running === null && !isSent && isWithdrawn(record.caller))
        .map((job) => finish(job, { kind: 'failed', failure: withdrawnFailure })),
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
    const waiting = listUnended().filter(({ running }) => running === null);
    positions = new Map(waiting.map(({ key }, index) => [key, index]));
    return positions;
  }
}

function endOfStopped({ stoppedBy, isSent }: QueuedJob): JobEnd {
  if (stoppedBy === 'withdrawal') return { kind: 'failed', failure: withdrawnFailure };
  return { kind: 'cancelled', mayHaveBeenPaid: isSent };
}

export function toEnd(result: EssayResult): JobEnd {
  return result.kind === 'essay' ? { kind: 'finished', essayId: result.id } : { kind: 'failed', failure: result };
}

/** A model writes dozens of pieces a second. */
const showTextEveryMs = 250;

/** Waiting jobs whose position other processes can show. */
const maxShown = 1_000;

const cancelledMessage = 'The order was cancelled after it was sent. It may have been paid for.';

const withdrawnFailure = {
  kind: 'service-failed',
  message: 'The API key of the caller was withdrawn before the order was sent, so the essay service was not called.',
  code: 'UPSTREAM_UNAVAILABLE',
  retryable: false,
  rawText: null,
} as const;

const unexpectedFailure = {
  kind: 'service-failed',
  message: 'The gateway failed unexpectedly. The order may have been paid for.',
  code: 'UPSTREAM_FAILED',
  retryable: false,
  rawText: null,
} as const;
