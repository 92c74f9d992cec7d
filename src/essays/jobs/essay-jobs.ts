import { setImmediate } from 'node:timers/promises';
import { AbortableSignal } from '../../async/signal.ts';
import { type Store, StoreError } from '../../stores/store.ts';
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
import { mayBePaid, type OrderArchive } from '../orders/archive.ts';
import { unsafeOrder } from '../orders/idempotency.ts';
import { differentOrder, type OrderKey, toOrderKey } from '../orders/order-key.ts';
import { createJobQueue, type JobQueueOptions } from './job-queue.ts';
import { createJobRecords, heartbeatExpiresInMs, type JobRecord, toJobId, toJobKey } from './job-records.ts';
import { createJobWatch, isEnded } from './job-watch.ts';

interface EssayJobsOptions extends Omit<JobQueueOptions, 'records' | 'events'> {
  store: Store;
  archive: Pick<OrderArchive, 'findAttempt' | 'confirmFailure' | 'deleteOrder'>;
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
  /** Orders that are being started. */
  const starting = new Set<{ key: string; callerId: string }>();
  /** Jobs of other processes, by the number of their entry among the jobs that have not ended. */
  const others = new Map<number, { key: string | null; misses: number }>();
  /** The last heartbeat of other processes, and when it was first seen, by `performance.now()`. */
  const heartbeats = new Map<string, { beats: number | null; since: number }>();
  let lastSeen: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  return {
    start,
    find: (id, callerId) => read(toJobKey(id, callerId)),
    findByKey: (idempotencyKey, callerId) => read(toJobKey(toJobId(idempotencyKey, callerId), callerId)),
    watch: (id, callerId, signal) => watching.watch(toJobKey(id, callerId), signal),
    cancel,
    list,
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
    if (idempotencyKey === null) throw new Error('A job needs an idempotency key.');
    const rejected = rejectOrder(order);
    if (rejected !== null) return rejected;
    const id = toJobId(idempotencyKey, caller.id);
    const key = toJobKey(id, caller.id);
    const own = { key, callerId: caller.id };
    try {
      const known = await records.read(key);
      const isSame = known === null || orderKeyOf(known).fingerprint === toOrderKey(order, caller.id)?.fingerprint;
      if (!isSame) return differentOrder;
      const mayRepeat = ({ end }: JobRecord) =>
        order.orderAgain && (end?.kind === 'failed' || end?.kind === 'cancelled');
      if (known !== null && !mayRepeat(known)) return toJob(known);
      const startingCount = [...starting].filter(({ callerId }) => callerId === caller.id).length;
      if (queue.countOf(caller.id) + startingCount >= maxPerCaller) return tooManyJobs(maxPerCaller);
      starting.add(own);
      // Otherwise another process could continue it at once.
      await queue.beat();
      const pending = await records.pending.append(key);
      const listed = known?.listed ?? (await records.listOf(caller.id).append(id));
      const { name, limits } = caller;
      const createdAt = new Date();
      const owner = queue.isStopping() ? null : queue.owner;
      const record = {
        id,
        createdAt,
        order,
        caller: { id: caller.id, name, limits },
        owner,
        listed,
        pending,
        end: null,
      };
      const stored = known === null ? ((await records.writeFirst(record)) ?? record) : await repeat(record, mayRepeat);
      if (stored !== record)
        return orderKeyOf(stored).fingerprint === orderKeyOf(record).fingerprint ? toJob(stored) : differentOrder;
      queue.add(record);
      return toJob(record);
    } catch {
      return unsafeOrder;
    } finally {
      starting.delete(own);
    }
  }

  function isStarting(key: string): boolean {
    return [...starting].some((order) => order.key === key);
  }

  /** Starts a job again that has ended. @returns the stored record: another one if it was started again before */
  async function repeat(record: JobRecord, mayRepeat: (known: JobRecord) => boolean): Promise<JobRecord> {
    const key = toJobKey(record.id, record.caller.id);
    await Promise.all([records.eraseRun(key), archive.confirmFailure(orderKeyOf(record))]);
    const stored = await records.change(key, (current) => (current === null || mayRepeat(current) ? record : null));
    return stored ?? record;
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
    const heartbeat = record.owner === null ? null : await records.readHeartbeat(record.owner);
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

  async function list({ first, after, state }: JobListing, callerId: string): Promise<JobPage> {
    const log = records.listOf(callerId);
    const entries: JobPage['entries'] = [];
    let missing = 0;
    const last = await log.last();
    let to = after === null ? last : Math.min(last, after - 1);
    const lowest = to - maxSearched;
    while (to > Math.max(0, lowest) && entries.length <= first && missing < maxMissing) {
      const from = Math.max(1, to - chunkSize + 1);
      const found = (await log.read(from, to)).toReversed();
      const jobs = await Promise.all(
        found.map(async ({ number, value: id }) => {
          const record = id && (await records.read(toJobKey(id, callerId)).catch(nullIfUnreadable));
          // A job that was started twice at the same moment may have two entries.
          return record && record.listed === number ? { number, job: await toJob(record) } : null;
        }),
      );
      for (const entry of jobs) {
        missing = entry === null ? missing + 1 : 0;
        if (entry && (state === null || entry.job.state.kind === state)) entries.push(entry);
      }
      to = from - 1;
      // The embedded store reads without a pause.
      await setImmediate();
    }
    const page = entries.slice(0, first);
    if (entries.length > first) return { entries: page, hasNext: true, end: page.at(-1)?.number ?? null };
    const hasNext = to > 0 && missing < maxMissing;
    return { entries: page, hasNext, end: hasNext ? to + 1 : (page.at(-1)?.number ?? null) };
  }

  async function remove(id: string, callerId: string): Promise<'deleted' | 'unknown' | 'not-ended'> {
    const key = toJobKey(id, callerId);
    const record = await records.read(key);
    if (record === null) return 'unknown';
    if (record.end === null || isStarting(key)) return 'not-ended';
    const essayId = record.end.kind === 'finished' ? record.end.essayId : null;
    await archive.deleteOrder(orderKeyOf(record), essayId, callerId);
    await records.erase(record);
    return 'deleted';
  }

  /** Continues the jobs of processes that have stopped. @throws StoreError */
  async function adopt(): Promise<void> {
    if (queue.isStopping()) return;
    const last = await records.pending.last();
    for (const number of await findNew(last)) others.set(number, { key: null, misses: 0 });
    lastSeen = last;
    await Promise.all([...heartbeats.keys()].map(readHeartbeat));
    // In turns, so that many jobs of other processes do not fill each second.
    const numbers = [...others.keys()].slice(0, maxExamined);
    const adoptions = await Promise.allSettled(numbers.map(adoptOne));
    const count = adoptions.filter((adoption) => adoption.status === 'fulfilled' && adoption.value).length;
    if (count > 0) events.essayJobsAdopted(count);
  }

  /** Numbers of entries among the jobs that have not ended. At the start, those of earlier processes. @throws StoreError */
  async function findNew(last: number): Promise<number[]> {
    if (lastSeen !== null) return range(Math.max(lastSeen + 1, last - maxGap), last);
    const found: number[] = [];
    let lowest = last;
    for (let to = last; to > 0 && lowest - to < maxGap; to -= chunkSize) {
      const entries = await records.pending.read(Math.max(1, to - chunkSize + 1), to);
      // The last ones may be missing because they are being stored.
      const numbers = entries.flatMap(({ number, value }) => (value === null && to < last ? [] : [number]));
      found.push(...numbers);
      lowest = numbers[0] ?? lowest;
    }
    return found.sort((one, other) => one - other);
  }

  async function adoptOne(number: number): Promise<boolean> {
    const other = others.get(number);
    if (other === undefined) return false;
    // Its next turn is after those of all others.
    others.delete(number);
    others.set(number, other);
    other.key ??= (await records.pending.read(number, number))[0]?.value ?? null;
    const { key } = other;
    const record = key && (await records.read(key).catch(nullIfUnreadable));
    if (!key || !record) {
      other.misses += 1;
      if (other.misses > maxMisses) others.delete(number);
      return false;
    }
    const isGone = record.end !== null || record.pending !== number || queue.has(key);
    if (isGone) others.delete(number);
    if (isGone || isStarting(key) || !(await isLeftAlone(record.owner))) return false;
    const wasSent = (await archive.findAttempt(orderKeyOf(record)))?.kind === 'sent';
    const sentText = wasSent ? ((await records.readText(key)) ?? '') : null;
    const isCancelled = await records.isCancelRequested(key);
    // An accepted second payment is not one more for each process that stops.
    const adopted = { ...record, order: { ...record.order, orderAgain: false }, owner: queue.owner };
    await queue.beat();
    const stored = await records.change(key, (current) =>
      current?.end === null && current.owner === record.owner && !queue.isStopping() ? adopted : null,
    );
    if (stored !== adopted) return false;
    others.delete(number);
    queue.add(adopted, sentText);
    if (isCancelled) void queue.cancel(key);
    return true;
  }

  /** Whether no process runs the jobs of this owner. @throws StoreError */
  async function isLeftAlone(owner: string | null): Promise<boolean> {
    // A job of this process that is not in its queue: its write seemed to fail.
    if (owner === null || owner === queue.owner) return true;
    const { beats, since } = heartbeats.get(owner) ?? (await readHeartbeat(owner));
    // A store that was down has lost heartbeats, and a clock that is set back keeps them.
    return performance.now() - since >= (beats === null ? missingMs : heartbeatExpiresInMs);
  }

  /** @throws StoreError */
  async function readHeartbeat(owner: string): Promise<{ beats: number | null; since: number }> {
    const beats = (await records.readHeartbeat(owner))?.beats ?? null;
    const known = heartbeats.get(owner);
    const isSame = known !== undefined && known.beats === beats;
    const seen = isSame ? known : { beats, since: performance.now() };
    if (beats === null && performance.now() - seen.since > forgetMs) heartbeats.delete(owner);
    else heartbeats.set(owner, seen);
    return seen;
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

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

/** For records that are damaged or of a later version: they must not hide others. @throws other errors */
function nullIfUnreadable(error: unknown): null {
  if (error instanceof StoreError && error.failure === 'corrupt') return null;
  throw error;
}

function mayHaveBeenPaid(state: EssayJobState): boolean {
  if (state.kind === 'cancelled') return state.mayHaveBeenPaid;
  return state.kind === 'failed' ? mayBePaid(state.failure) : state.kind !== 'queued';
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
/** So many entries of ended jobs in a row end the search for jobs of earlier processes. */
const maxGap = 5_000;
/** Jobs of other processes that are read in a second. */
const maxExamined = 200;
/** An entry has a number before it is stored, and is stored before its job. */
const maxMisses = 10;
/** Without a heartbeat. Longer than a live process takes for one more, after a store that was down. */
const missingMs = 1_500;
/** After this time without a heartbeat, a process is forgotten. Its jobs were examined several times. */
const forgetMs = 600_000;
/** Another process does it within a second, and its store may be slow. */
const cancelWaitMs = 3_000;
/** Entries that are read at a time. */
const chunkSize = 50;
/** So many expired or deleted entries in a row are the end of a list. */
const maxMissing = 1_000;
/** Entries that are searched for one page, which may therefore have fewer orders than were asked for. */
const maxSearched = 2_000;
