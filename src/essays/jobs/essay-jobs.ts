import { AbortableSignal } from '../../async/signal.ts';
import type { Store } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type {
  Cancellation,
  EssayFailure,
  EssayJob,
  EssayJobState,
  EssayJobs,
  EssayOrder,
  EssayServiceFailed,
  InvalidEssayInput,
  JobCaller,
  JobListing,
  JobPage,
} from '../essays.ts';
import type { OrderArchive } from '../orders/archive.ts';
import { unsafeOrder } from '../orders/idempotency.ts';
import { differentOrder, type OrderKey, toOrderKey } from '../orders/order-key.ts';
import { createJobQueue, type JobQueueOptions } from './job-queue.ts';
import { createJobRecords, type JobRecord, toJobId, toJobKey } from './job-records.ts';
import { createJobWatch, isEnded } from './job-watch.ts';

interface EssayJobsOptions extends Omit<JobQueueOptions, 'records' | 'events'> {
  store: Store;
  archive: Pick<OrderArchive, 'deleteOrder' | 'findAttempt'>;
  /** What is wrong with an order; null: nothing. */
  rejectOrder: (order: EssayOrder) => InvalidEssayInput | null;
  /** Jobs of a caller in one process that have not ended. */
  maxPerCaller: number;
  /** How long jobs are stored. */
  keepMs: number;
  events: JobQueueOptions['events'] & Pick<Events, 'essayJobsAdopted'>;
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
  store,
  archive,
  rejectOrder,
  maxPerCaller,
  keepMs,
  ...options
}: EssayJobsOptions): RunningEssayJobs {
  const { events } = options;
  const records = createJobRecords(store, keepMs);
  const queue = createJobQueue({ ...options, records });
  const watching = createJobWatch(read);
  queue.onChanged(watching.refresh);
  /** Jobs of other processes, by the number of their entry among the jobs that have not ended. */
  const others = new Map<number, { key: string; misses: number }>();
  let lastSeen: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<unknown> | null = null;
  let isStopping = false;

  return {
    start,
    find: (id, callerId) => read(toJobKey(id, callerId)),
    findByKey: (idempotencyKey, callerId) => read(toJobKey(toJobId(idempotencyKey, callerId), callerId)),
    watch: (id, callerId, signal) => watching.watch(toJobKey(id, callerId), signal),
    cancel,
    list,
    delete: remove,
    begin() {
      timer = setInterval(() => {
        // A store that fails is reported by itself; the next turn tries again.
        turn ??= synchronize()
          .catch(() => {})
          .finally(() => {
            turn = null;
          });
      }, synchronizeEveryMs).unref();
    },
    status: queue.status,
    async stop() {
      isStopping = true;
      watching.close();
      // The orders that were sent remain with this process, which shows its heartbeat until they have ended.
      await queue.stop();
      clearInterval(timer);
      await turn;
      await queue.endHeartbeat();
    },
  };

  /** @throws StoreError */
  async function synchronize(): Promise<void> {
    await Promise.all([queue.synchronize(), ...(isStopping ? [] : [adopt(), watching.refreshAll()])]);
  }

  async function start(order: EssayOrder, caller: JobCaller): Promise<EssayJob | EssayFailure> {
    const { idempotencyKey } = order;
    if (idempotencyKey === null) throw new Error('A job needs an idempotency key.');
    const rejected = rejectOrder(order);
    if (rejected !== null) return rejected;
    const id = toJobId(idempotencyKey, caller.id);
    const key = toJobKey(id, caller.id);
    try {
      const known = await records.read(key);
      const isSame = known === null || orderKeyOf(known).fingerprint === toOrderKey(order, caller.id)?.fingerprint;
      if (!isSame) return differentOrder;
      const isRepeated = order.orderAgain && (known?.end?.kind === 'failed' || known?.end?.kind === 'cancelled');
      if (known !== null && !isRepeated) return toJob(known);
      if (queue.countOf(caller.id) >= maxPerCaller) return tooManyJobs(maxPerCaller);
      // Otherwise another process could continue it at once.
      await queue.beat();
      const pending = await records.pending.append(key);
      const listed = known?.listed ?? (await records.listOf(caller.id).append(id));
      const { name, limits } = caller;
      const createdAt = new Date();
      const record = { id, createdAt, order, caller: { id: caller.id, name, limits }, listed, pending, end: null };
      const owned: JobRecord = { ...record, owner: queue.owner };
      const earlier = known === null ? await records.writeFirst(owned) : null;
      if (earlier !== null)
        return orderKeyOf(earlier).fingerprint === orderKeyOf(owned).fingerprint ? toJob(earlier) : differentOrder;
      if (known !== null) await records.write(owned);
      queue.add(owned);
      return toJob(owned);
    } catch {
      return unsafeOrder;
    }
  }

  async function read(key: string): Promise<EssayJob | null> {
    const wasHere = queue.has(key);
    const record = await records.read(key);
    // It may have ended while its record was read.
    if (wasHere && !queue.has(key)) return read(key);
    return record && toJob(record);
  }

  async function toJob(record: JobRecord): Promise<EssayJob> {
    const { id, createdAt, order } = record;
    const { idempotencyKey, orderAgain, ...input } = order;
    return { id, createdAt, input, state: await stateOf(record) };
  }

  async function stateOf(record: JobRecord): Promise<EssayJobState> {
    const key = toJobKey(record.id, record.caller.id);
    const here = queue.state(key);
    if (here !== null) return here;
    if (record.end !== null) return record.end;
    const textSoFar = await records.readText(key);
    if (textSoFar !== null) return { kind: 'writing', textSoFar };
    const heartbeat = await records.readHeartbeat(record.owner);
    return { kind: 'queued', position: Math.max(0, heartbeat?.waiting.indexOf(key) ?? 0) };
  }

  async function cancel(id: string, callerId: string): Promise<Cancellation | null> {
    const key = toJobKey(id, callerId);
    const record = await records.read(key);
    if (record === null) return null;
    if (queue.has(key)) await queue.cancel(key);
    else if (record.end === null) await cancelElsewhere(key);
    const job = (await read(key)) ?? (await toJob(record));
    const { state } = job;
    const isCancelled = state.kind === 'cancelled';
    return { job, isCancelled, mayHaveBeenPaid: isCancelled ? state.mayHaveBeenPaid : state.kind !== 'queued' };
  }

  /** The other process looks for it every second. */
  async function cancelElsewhere(key: string): Promise<void> {
    await records.requestCancel(key);
    const waiting = new AbortableSignal();
    const timer = setTimeout(() => waiting.abort(null), cancelWaitMs);
    for await (const job of watching.watch(key, waiting)) if (job === null || isEnded(job.state)) break;
    clearTimeout(timer);
  }

  async function list({ first, after, state }: JobListing, callerId: string): Promise<JobPage> {
    const log = records.listOf(callerId);
    const entries: JobPage['entries'] = [];
    let missing = 0;
    const last = await log.last();
    let to = after === null ? last : Math.min(last, after - 1);
    while (to > 0 && entries.length <= first && missing < maxMissing) {
      const from = Math.max(1, to - chunkSize + 1);
      const found = (await log.read(from, to)).toReversed();
      const jobs = await Promise.all(
        found.map(async ({ number, value: id }) => {
          const record = id && (await records.read(toJobKey(id, callerId)));
          // A job that was started twice at the same moment may have two entries.
          return record && record.listed === number ? { number, job: await toJob(record) } : null;
        }),
      );
      for (const entry of jobs) {
        missing = entry === null ? missing + 1 : 0;
        if (entry && (state === null || entry.job.state.kind === state)) entries.push(entry);
      }
      to = from - 1;
    }
    return { entries: entries.slice(0, first), hasNext: entries.length > first };
  }

  async function remove(id: string, callerId: string): Promise<'deleted' | 'unknown' | 'not-ended'> {
    const record = await records.read(toJobKey(id, callerId));
    if (record === null) return 'unknown';
    if (record.end === null) return 'not-ended';
    const essayId = record.end.kind === 'finished' ? record.end.essayId : null;
    await archive.deleteOrder(orderKeyOf(record), essayId, callerId);
    await records.erase(record);
    return 'deleted';
  }

  /** Continues the jobs of processes that have stopped. @throws StoreError */
  async function adopt(): Promise<void> {
    const last = await records.pending.last();
    const from = (lastSeen ?? Math.max(0, last - maxUnended)) + 1;
    for (const { number, value: key } of await records.pending.read(from, last))
      if (key) others.set(number, { key, misses: 0 });
    lastSeen = last;
    let count = 0;
    for (const number of others.keys()) if (await adoptOne(number)) count += 1;
    if (count > 0) events.essayJobsAdopted(count);
  }

  async function adoptOne(number: number): Promise<boolean> {
    const other = others.get(number);
    if (other === undefined) return false;
    const { key } = other;
    const record = await records.read(key);
    other.misses += record === null ? 1 : 0;
    const isGone = record === null ? other.misses > maxMisses : record.end !== null || record.pending !== number;
    if (queue.has(key) || isGone) others.delete(number);
    if (record === null || !others.has(number)) return false;
    // A job of this process that is not in its queue: its write seemed to fail.
    const isOrphan = record.owner === queue.owner || (await records.readHeartbeat(record.owner)) === null;
    if (!isOrphan) return false;
    const lock = await store.lock(`${key}:adoption`, { expiresInMs: adoptionMs });
    if (lock === null) return false;
    try {
      const current = await records.read(key);
      if (current?.end !== null || current.owner !== record.owner) return false;
      const adopted = { ...current, owner: queue.owner };
      const wasSent = (await archive.findAttempt(orderKeyOf(current)))?.kind === 'sent';
      const sentText = wasSent ? ((await records.readText(key)) ?? '') : null;
      await queue.beat();
      await records.write(adopted);
      queue.add(adopted, sentText);
      others.delete(number);
      return true;
    } finally {
      await lock.release();
    }
  }
}

function orderKeyOf({ order, caller }: JobRecord): OrderKey {
  const key = toOrderKey(order, caller.id);
  if (key === null) throw new Error('A job has no idempotency key.');
  return key;
}

function tooManyJobs(max: number): EssayServiceFailed {
  const message = `${max} of your orders have not ended. Start another one when one of them has.`;
  return { kind: 'service-failed', message, code: 'UPSTREAM_UNAVAILABLE', retryable: true, rawText: null };
}

const synchronizeEveryMs = 1_000;
/** More than all jobs that can be unended, in all processes. */
const maxUnended = 5_000;
/** An entry is written before its job. */
const maxMisses = 10;
/** For the writes of an adoption. */
const adoptionMs = 5_000;
/** Another process does it within a second, and its store may be slow. */
const cancelWaitMs = 3_000;
/** Entries that are read at a time. */
const chunkSize = 50;
/** So many expired or deleted entries in a row are the end of a list. */
const maxMissing = 1_000;
