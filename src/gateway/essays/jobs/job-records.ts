import * as z from 'zod';
import { type Store, StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type { EssayJob, EssayOrder, JobCaller } from '../essays.ts';
import { essayInput, failure, hash, type OrderKey, parseRecord, toOrderKey } from '../orders/archive.ts';

/** A job as it is stored. */
export interface JobRecord {
  id: string;
  createdAt: Date;
  order: EssayOrder;
  /** Whether its client waits for it (`generateEssay`). No process runs it as a job, and its state is the outcome of the order. */
  isAwaited: boolean;
  caller: JobCaller;
  /** The process that runs it, until another one finds that it has stopped; null: a process that stopped has left it. */
  owner: string | null;
  /** Number of its entry in the caller's list; an order that was started again has earlier ones, too. */
  listed: number;
  /** Number of its entry among the jobs that have not ended. */
  pending: number;
  /** Null until it has ended. */
  end: JobEnd | null;
}

export type JobEnd = Exclude<EssayJob['state'], { kind: 'queued' | 'writing' }>;

/** What a process shows of its jobs to other processes. */
interface Heartbeat {
  /** Number of this heartbeat: if it does not change, the process has stopped, whatever the clock says. */
  beats: number;
  /** The store keys of the waiting jobs, in their order. */
  waiting: string[];
}

export type JobRecords = ReturnType<typeof createJobRecords>;

/**
 * Stored jobs. Functions throw StoreError, with the failure `corrupt` if a record is damaged or of a later version.
 * @param expiresInMs the expiry of jobs
 */
export function createJobRecords(store: Store, expiresInMs: number, events: Pick<Events, 'essayOrderUnreadable'>) {
  return {
    read,
    change,
    writeFirst,
    /** Writes and lists an order whose client waits for it, when it is sent. A job with its key that has not ended remains. */
    async writeAwaited(order: EssayOrder, callerId: string): Promise<void> {
      const id = toJobId(order.idempotencyKey ?? '', callerId);
      const list = listOf(callerId);
      const listed = await list.next();
      const caller = { id: callerId, name: '', limits: noLimits };
      const state = { isAwaited: true, owner: null, pending: 0, end: null };
      const record = { id, createdAt: new Date(), order, caller, listed, ...state };
      const [known] = await Promise.all([writeFirst(record), list.put(listed, id)]);
      if (known === null) return;
      const isInProgress = (current: JobRecord | null) => current?.isAwaited === false && current.end === null;
      await change(toJobKey(id, callerId), (current) => (isInProgress(current) ? null : record));
    },
    async erase({ id, caller, listed }: JobRecord): Promise<void> {
      const key = toJobKey(id, caller.id);
      await Promise.all([store.delete(key), eraseRun(key), listOf(caller.id).remove(listed)]);
    },
    listOf,
    /** The keys of the jobs that have not ended. */
    pending: createStoreLog({ store, name: 'essay-jobs-pending', expiresInMs, skipUnreadable }),
    skipUnreadable,
    /** The text so far of a job that was sent; null for others. */
    async readText(key: string): Promise<string | null> {
      return parseRecord(writtenText, await store.get(`${key}:text`))?.textSoFar ?? null;
    },
    async writeText(key: string, textSoFar: string): Promise<void> {
      await store.set(`${key}:text`, JSON.stringify({ textSoFar }), { expiresInMs: textExpiresInMs });
    },
    eraseRun,
    async isCancelRequested(key: string): Promise<boolean> {
      return (await store.get(`${key}:cancel`)) !== null;
    },
    async requestCancel(key: string): Promise<void> {
      await store.set(`${key}:cancel`, '1', { expiresInMs });
    },
    async readHeartbeat(owner: string): Promise<Heartbeat | null> {
      return parseRecord(heartbeat, await store.get(toOwnerKey(owner)));
    },
    async writeHeartbeat(owner: string, beat: Heartbeat): Promise<void> {
      await store.set(toOwnerKey(owner), JSON.stringify(beat), { expiresInMs: heartbeatExpiresInMs });
    },
    /** The jobs of this process may be continued by others at once. */
    async eraseHeartbeat(owner: string): Promise<void> {
      await store.delete(toOwnerKey(owner));
    },
  };

  async function read(key: string): Promise<JobRecord | null> {
    return parseRecord(jobRecord, await store.get(key));
  }

  /**
   * Changes a record while no other process changes it. Throws StoreError if another one does.
   * @param decide what to write; null: nothing @returns what was written, or else what was there
   */
  async function change(
    key: string,
    decide: (current: JobRecord | null) => JobRecord | null,
  ): Promise<JobRecord | null> {
    const lock = await store.lock(`${key}:change`, { expiresInMs: changeMs });
    if (lock === null) throw new StoreError('another process is changing the record');
    try {
      const current = await read(key);
      const changed = decide(current);
      if (changed !== null) await store.set(key, write(changed), { expiresInMs });
      return changed ?? current;
    } finally {
      await lock.release().catch(() => {});
    }
  }

  /** @returns the record that was there, if there was one; then nothing is written */
  async function writeFirst(record: JobRecord): Promise<JobRecord | null> {
    const key = toJobKey(record.id, record.caller.id);
    return parseRecord(jobRecord, await store.setIfAbsent(key, write(record), { expiresInMs }));
  }

  /** Erases the text so far and a requested cancellation, which belong to one run of the job. */
  async function eraseRun(key: string): Promise<void> {
    await Promise.all([`${key}:text`, `${key}:cancel`].map((name) => store.delete(name)));
  }

  /** The ids of a caller's jobs, in the order in which they were started. */
  function listOf(callerId: string) {
    return createStoreLog({ store, name: `essay-jobs:${hash([callerId])}`, expiresInMs, skipUnreadable });
  }

  /** For an entry or a record that is damaged or of a later version: it must not hide others. @throws other errors */
  function skipUnreadable(error: unknown): null {
    if (!(error instanceof StoreError) || error.failure !== 'corrupt') throw error;
    events.essayOrderUnreadable();
    return null;
  }
}

interface StoreLogOptions {
  store: Store;
  name: string;
  expiresInMs: number;
  skipUnreadable: (error: unknown) => null;
}

/** A list in a store that only grows at its end. Entries are numbered from 1; a removed, expired or damaged one is missing. */
function createStoreLog({ store, name, expiresInMs, skipUnreadable }: StoreLogOptions) {
  const toKey = (number: number) => `${name}:${number}`;

  return {
    /** @returns the number of the entry */
    async append(value: string): Promise<number> {
      const number = await next();
      await put(number, value);
      return number;
    },
    next,
    put,
    /** Number of the last entry; 0: there was none. */
    async last(): Promise<number> {
      return (await store.add(name, 0, counterExpiry)).sum;
    },
    /** The entries from one number to a higher one, both included, with null for those that are missing. */
    async read(from: number, to: number): Promise<{ number: number; value: string | null }[]> {
      const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
      const values = await Promise.all(numbers.map((number) => store.get(toKey(number)).catch(skipUnreadable)));
      return numbers.map((number, index) => ({ number, value: values[index] ?? null }));
    },
    async remove(number: number): Promise<void> {
      await store.delete(toKey(number));
    },
  };

  /** Number of the next entry, which is missing until it is put there. */
  async function next(): Promise<number> {
    return (await store.add(name, 1, counterExpiry)).sum;
  }

  async function put(number: number, value: string): Promise<void> {
    await store.set(toKey(number), value, { expiresInMs });
  }
}

/** A century: numbers are never used again. */
const counterExpiry = { expiresInMs: 100 * 365 * 86_400_000 };

/** The id of the job with this key. Who knows neither the caller nor the key cannot guess it. */
export function toJobId(idempotencyKey: string, callerId: string): string {
  return hash(['essay-job', callerId, idempotencyKey]);
}

/** The store key. It includes the caller, so that a caller cannot read the jobs of another. */
export function toJobKey(id: string, callerId: string): string {
  return `essay-job:${hash([callerId, id])}`;
}

/** Longer than the longest time limit of an essay. */
const textExpiresInMs = 3_600_000;

/** After this time without a heartbeat, other processes continue the jobs of a process. */
export const heartbeatExpiresInMs = 10_000;

/** Nothing runs with the caller of an awaited order. */
const noLimits = { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null };

/** For the commands of a change. */
const changeMs = 5_000;

function toOwnerKey(owner: string): string {
  return `essay-jobs-owner:${owner}`;
}

function write(record: JobRecord): string {
  return JSON.stringify({ version: 1, ...record });
}

const callBudget = z.object({ calls: z.number(), period: z.enum(['day', 'month']) }).nullable();

const jobRecord: z.ZodType<JobRecord> = z.object({
  version: z.literal(1),
  id: z.string(),
  createdAt: z.coerce.date(),
  order: essayInput.and(z.object({ idempotencyKey: z.string(), orderAgain: z.boolean() })),
  isAwaited: z.boolean(),
  caller: z.object({
    id: z.string(),
    name: z.string(),
    limits: z.object({
      requestsPerMinute: z.number().nullable(),
      bankDataCalls: callBudget,
      essayCalls: callBudget,
      maxQueryCost: z.number().nullable(),
    }),
  }),
  owner: z.string().nullable(),
  listed: z.number(),
  pending: z.number(),
  end: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('finished'), essayId: z.string() }),
      z.object({ kind: z.literal('failed'), failure }),
      z.object({ kind: z.literal('cancelled'), mayHaveBeenPaid: z.boolean() }),
    ])
    .nullable(),
});

const writtenText = z.object({ textSoFar: z.string() });

const heartbeat: z.ZodType<Heartbeat> = z.object({ beats: z.number(), waiting: z.array(z.string()) });

export function orderKeyOf({ order, caller }: JobRecord): OrderKey {
  const key = toOrderKey(order, caller.id);
  if (key === null) throw new Error('A job has no idempotency key.');
  return key;
}
