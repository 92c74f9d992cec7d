import type { Events } from '../../telemetry/events.ts';
import type { OrderArchive } from '../orders/archive.ts';
import type { JobQueue } from './job-queue.ts';
import { heartbeatExpiresInMs, type JobRecords, orderKeyOf } from './job-records.ts';

interface JobAdoptionOptions {
  records: JobRecords;
  queue: JobQueue;
  archive: Pick<OrderArchive, 'findAttempt'>;
  /** Whether this process is starting the job at the moment. */
  isStarting(key: string): boolean;
  events: Pick<Events, 'essayJobsAdopted'>;
}

/**
 * Finds the jobs of processes that have stopped, by their heartbeats, and continues them in the queue of this process.
 * @returns a function that is called every second @throws StoreError
 */
export function createJobAdoption({ records, queue, archive, isStarting, events }: JobAdoptionOptions) {
  /** Jobs of other processes, by the number of their entry among the jobs that have not ended. */
  const others = new Map<number, { key: string | null; misses: number }>();
  /** The last heartbeat of other processes, and when it was first seen, by `performance.now()`. */
  const heartbeats = new Map<string, { beats: number | null; since: number }>();
  let lastSeen: number | null = null;

  return adopt;

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
    const record = key && (await records.read(key).catch(records.skipUnreadable));
    if (!key || !record) {
      other.misses += 1;
      if (other.misses > maxMisses) others.delete(number);
      return false;
    }
    const isGone = record.end !== null || record.pending !== number || queue.has(key);
    if (isGone) others.delete(number);
    if (isGone || isStarting(key) || !(await isLeftAlone(record.owner))) return false;
    const wasSent = (await archive.findAttempt(orderKeyOf(record)))?.needsConsent === true;
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

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

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
/** Entries that are read at a time. */
const chunkSize = 50;
