import { AbortableSignal } from '../../../base/async/signal.ts';
import type { Events } from '../../telemetry/events.ts';
import {
  type Cancellation,
  type EssayAllowanceExhausted,
  type EssayFailure,
  type EssayFieldProblem,
  type EssayJob,
  type EssayJobState,
  type EssayJobs,
  type EssayOrder,
  type EssayServiceFailed,
  essayLimits,
  type InvalidEssayInput,
  type JobCaller,
  type ListJobs,
} from '../essays.ts';
import { differentOrder, type OrderArchive, toOrderKey } from '../orders/archive.ts';
import { type IdempotentEssays, unsafeOrder } from '../orders/idempotency.ts';
import { createJobAdoption } from './job-adoption.ts';
import { createJobList } from './job-list.ts';
import { createJobQueue, type JobQueueOptions, toEnd } from './job-queue.ts';
import { type JobRecord, orderKeyOf, toJobId, toJobKey } from './job-records.ts';
import { createJobWatch, isEnded } from './job-watch.ts';
import type { StoredBytes } from './stored-bytes.ts';

interface EssayJobsOptions extends Omit<JobQueueOptions, 'essays' | 'onChanged' | 'events'> {
  essays: Pick<IdempotentEssays, 'generate' | 'abort' | 'findOutcome' | 'deleteOrder'>;
  archive: Pick<OrderArchive, 'findAttempt'>;
  /** What is wrong with an order; null: nothing. */
  rejectOrder: (order: EssayOrder) => InvalidEssayInput | null;
  /** Why an order of the caller could not be sent now; null: it could. Counts nothing. */
  findExhausted: (caller: JobCaller) => Promise<EssayAllowanceExhausted | null>;
  /** Jobs of a caller in one process that have not ended. */
  maxPerCaller: number;
  storedBytes: StoredBytes;
  events: JobQueueOptions['events'] & Pick<Events, 'essayJobsAdopted' | 'essayOrdered'>;
}

export interface RunningEssayJobs extends EssayJobs {
  /** Continues the jobs of processes that have stopped, and of earlier starts. */
  begin(): void;
  status(): { waiting: number; running: number; oldestMs: number };
  /** Completes the jobs that were sent, and leaves the others to other processes. */
  stop(): Promise<void>;
}

/**
 * Orders that are written without their client. A job is stored before `start` returns, and one process runs it. If that
 * process stops, another one continues: a job that was not sent is sent, and one that was fails, because it may have been paid
 * for. `withIdempotency` makes sure of that, also if two processes run the same job.
 */
export function createEssayJobs({
  archive,
  rejectOrder,
  findExhausted,
  maxPerCaller,
  storedBytes,
  ...options
}: EssayJobsOptions): RunningEssayJobs {
  const { essays, records, events } = options;
  const watching = createJobWatch(read);
  const queue = createJobQueue({ ...options, onChanged: watching.refresh });
  /** Orders that are being started. */
  const starting = new Set<{ key: string; callerId: string }>();
  const adopt = createJobAdoption({ records, queue, archive, isStarting, events });
  let timer: NodeJS.Timeout | undefined;

  return {
    start,
    find: (id, callerId) => read(toJobKey(id, callerId)),
    findByKey: (idempotencyKey, callerId) => read(toJobKey(toJobId(idempotencyKey, callerId), callerId)),
    watch: (id, callerId, signal) => watching.watch(toJobKey(id, callerId), signal),
    cancel,
    openList,
    delete: remove,
    begin() {
      // Each by itself: a slow one must not delay the heartbeat.
      const turns = [queue.beatWhileBusy, queue.synchronize, adopt, watching.refreshAll].map(oneAtATime);
      timer = setInterval(() => {
        for (const takeTurn of turns) takeTurn();
      }, synchronizeEveryMs).unref();
    },
    status: queue.status,
    async stop() {
      watching.close();
      // Until the end, the heartbeat shows that the jobs that were sent are not left alone.
      await queue.stop();
      clearInterval(timer);
      await queue.endHeartbeat();
    },
  };

  async function start(order: EssayOrder, caller: JobCaller): Promise<EssayJob | EssayFailure> {
    const { idempotencyKey } = order;
    if (idempotencyKey === null) return withoutKey;
    const rejected = rejectOrder(order);
    if (rejected !== null) return rejected;
    const id = toJobId(idempotencyKey, caller.id);
    const key = toJobKey(id, caller.id);
    const own = { key, callerId: caller.id };
    try {
      const known = await records.read(key);
      const found = known && (await findFor(order, known));
      if (found !== null) return found;
      const startingCount = [...starting].filter(({ callerId }) => callerId === caller.id).length;
      if (queue.countOf(caller.id) + startingCount >= maxPerCaller) return tooManyJobs(maxPerCaller);
      starting.add(own);
      const exhausted = await findExhausted(caller);
      if (exhausted !== null) {
        events.essayOrdered('exhausted');
        return exhausted;
      }
      const createdAt = new Date();
      if (!(await storedBytes.take(order, caller.id, createdAt))) return tooManyBytes(storedBytes.maxMegabytes);
      // Otherwise another process could continue it at once.
      await queue.beat();
      const entries = [records.pending.append(key), records.listOf(caller.id).append(id)] as const;
      const [pending, listed] = await Promise.all(entries);
      const { name, limits } = caller;
      const record: JobRecord = {
        id,
        createdAt,
        order,
        isAwaited: false,
        caller: { id: caller.id, name, limits },
        owner: queue.isStopping() ? null : queue.owner,
        listed,
        pending,
        end: null,
      };
      const stored = known === null ? ((await records.writeFirst(record)) ?? record) : await replace(record);
      // Another process may have been faster.
      if (stored === record) queue.add(record);
      const unused = stored === record ? known : record;
      if (unused !== null) await freeBytes(unused);
      return (await findFor({ ...order, orderAgain: false }, stored)) ?? unsafeOrder;
    } catch {
      return unsafeOrder;
    } finally {
      starting.delete(own);
    }
  }

  function isStarting(key: string): boolean {
    return [...starting].some((order) => order.key === key);
  }

  /** The job of an order whose key has a record; null if the order may be started. */
  async function findFor(order: EssayOrder, record: JobRecord): Promise<EssayJob | EssayFailure | null> {
    const job = await toJob(record);
    if (job === null) return null;
    if (toOrderKey(order, record.caller.id)?.fingerprint !== orderKeyOf(record).fingerprint) return differentOrder;
    return order.orderAgain && hasFailed(job.state) ? null : job;
  }

  /** Starts an order again that has failed or was cancelled. @returns the stored record: another one if it was started before */
  async function replace(record: JobRecord): Promise<JobRecord> {
    const key = toJobKey(record.id, record.caller.id);
    await records.eraseRun(key);
    const isReplaceable = ({ isAwaited, end }: JobRecord) => isAwaited || (end !== null && hasFailed(end));
    const stored = await records.change(key, (current) => (current && !isReplaceable(current) ? null : record));
    return stored ?? record;
  }

  async function read(key: string): Promise<EssayJob | null> {
    const wasHere = queue.has(key);
    const record = await records.read(key);
    // It may have ended while its record was read.
    if (wasHere && !queue.has(key)) return read(key);
    return record && toJob(record);
  }

  /** Null for an awaited order that was not sent after all. */
  async function toJob(record: JobRecord): Promise<EssayJob | null> {
    const { id, createdAt, order } = record;
    const { idempotencyKey, orderAgain, ...input } = order;
    const state = await stateOf(record);
    return state && { id, createdAt, input, state };
  }

  async function stateOf(record: JobRecord): Promise<EssayJobState | null> {
    const key = toJobKey(record.id, record.caller.id);
    const here = queue.state(key);
    if (here !== null) return here;
    if (record.end !== null) return record.end;
    if (record.isAwaited) {
      const outcome = await essays.findOutcome(orderKeyOf(record));
      return outcome === 'writing' ? { kind: 'writing', textSoFar: '' } : outcome && toEnd(outcome);
    }
    const textSoFar = await records.readText(key);
    if (textSoFar !== null) return { kind: 'writing', textSoFar };
    const heartbeat = record.owner === null ? null : await records.readHeartbeat(record.owner);
    return { kind: 'queued', position: Math.max(0, heartbeat?.waiting.indexOf(key) ?? 0) };
  }

  async function cancel(id: string, callerId: string): Promise<Cancellation | null> {
    const key = toJobKey(id, callerId);
    const record = await records.read(key);
    if (record === null) return null;
    if (queue.has(key)) await queue.cancel(key);
    else if (record.end === null && !record.isAwaited) await cancelElsewhere(key);
    const job = (await read(key)) ?? (await toJob(record));
    if (job === null) return null;
    const { state } = job;
    return { job, isCancelled: state.kind === 'cancelled', mayHaveBeenPaid: mayHaveBeenPaid(state) };
  }

  /** The other process looks for it every second. */
  async function cancelElsewhere(key: string): Promise<void> {
    await records.requestCancel(key);
    const waiting = new AbortableSignal();
    const timer = setTimeout(() => waiting.abort(null), cancelWaitMs);
    try {
      for await (const job of await watching.watch(key, waiting)) if (job === null || isEnded(job.state)) break;
    } finally {
      clearTimeout(timer);
    }
  }

  function openList(callerId: string, spend: (entries: number) => boolean): ListJobs {
    const log = records.listOf(callerId);
    const readJobs = async (from: number, to: number) =>
      Promise.all((await log.read(from, to)).map((entry) => readListed(entry, callerId)));
    return createJobList({ lastNumber: log.last, readJobs, spend });
  }

  /** Without a job for one that cannot be read, and for an earlier entry of a job that was started again. */
  async function readListed({ number, value: id }: { number: number; value: string | null }, callerId: string) {
    const record = id && (await records.read(toJobKey(id, callerId)).catch(records.skipUnreadable));
    const isListed = record && record.listed === number;
    return { number, job: isListed ? await toJob(record).catch(records.skipUnreadable) : null };
  }

  async function remove(id: string, callerId: string): Promise<'deleted' | 'unknown' | 'not-ended'> {
    const key = toJobKey(id, callerId);
    const record = await records.read(key);
    const state = record && (await stateOf(record));
    if (record === null || state === null) return 'unknown';
    const isEndStored = isEnded(state) && (record.isAwaited || record.end !== null);
    if (!isEndStored || isStarting(key)) return 'not-ended';
    const essayId = state.kind === 'finished' ? state.essayId : null;
    if (!(await essays.deleteOrder(orderKeyOf(record), essayId, callerId))) return 'not-ended';
    await records.erase(record);
    await freeBytes(record);
    return 'deleted';
  }

  /** If the store fails, the bytes are counted until the order would have expired: what was done before is done. */
  async function freeBytes({ order, caller, createdAt, isAwaited }: JobRecord): Promise<void> {
    if (!isAwaited) await storedBytes.free(order, caller.id, createdAt).catch(() => {});
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

function hasFailed({ kind }: EssayJobState): boolean {
  return kind === 'failed' || kind === 'cancelled';
}

function mayHaveBeenPaid(state: EssayJobState): boolean {
  if (state.kind === 'cancelled') return state.mayHaveBeenPaid;
  if (state.kind !== 'failed') return state.kind !== 'queued';
  return 'code' in state.failure && ['UPSTREAM_FAILED', 'UPSTREAM_TIMED_OUT'].includes(state.failure.code);
}

const keyProblem: EssayFieldProblem = {
  field: 'idempotencyKey',
  reason: 'REQUIRED',
  range: { min: 1, max: essayLimits.idempotencyKey },
  message: 'An order that is started needs an idempotency key, such as a UUID, by which it is found again.',
};

const withoutKey: InvalidEssayInput = {
  kind: 'invalid-input',
  field: keyProblem.field,
  message: keyProblem.message,
  problems: [keyProblem],
};

function tooManyJobs(max: number): EssayServiceFailed {
  const message = `${max} of your orders have not ended. Start another one when one of them has.`;
  return { kind: 'service-failed', message, code: 'UPSTREAM_UNAVAILABLE', retryable: true, rawText: null };
}

function tooManyBytes(maxMegabytes: number): EssayServiceFailed {
  const message =
    `Your stored orders may have at most ${maxMegabytes} MB in total. Delete orders that have ended, or start this one when ` +
    'others have expired.';
  return { kind: 'service-failed', message, code: 'UPSTREAM_UNAVAILABLE', retryable: true, rawText: null };
}

const synchronizeEveryMs = 1_000;
/** Another process does it within a second, and its store may be slow. */
const cancelWaitMs = 3_000;
