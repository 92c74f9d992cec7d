import * as z from 'zod';
import { erase, type Store, StoreError } from '../../stores/store.ts';
import { createStoreLog, type StoreLog } from '../../stores/store-log.ts';
import type { EssayJob, EssayOrder, JobCaller } from '../essays.ts';
import { essayInput, failure } from '../orders/archive.ts';
import { hash } from '../orders/order-key.ts';

/** A job as it is stored. */
export interface JobRecord {
  id: string;
  createdAt: Date;
  order: EssayOrder;
  caller: JobCaller;
  /** The process that runs it, until another one finds that it has stopped. */
  owner: string;
  /** Number of its entry in the caller's list. */
  listed: number;
  /** Number of its entry among the jobs that have not ended. */
  pending: number;
  /** Null until it has ended. */
  end: JobEnd | null;
}

export type JobEnd = Exclude<EssayJob['state'], { kind: 'queued' | 'writing' }>;

/** What a process shows of its jobs to other processes. */
interface Heartbeat {
  /** The store keys of the waiting jobs, in their order. */
  waiting: string[];
}

/** Stored jobs. Functions throw StoreError. */
export interface JobRecords {
  read(key: string): Promise<JobRecord | null>;
  write(record: JobRecord): Promise<void>;
  /** @returns the record that was there, if there was one; then nothing is written */
  writeFirst(record: JobRecord): Promise<JobRecord | null>;
  erase(record: JobRecord): Promise<void>;
  /** The ids of a caller's jobs, in the order in which they were started. */
  listOf(callerId: string): StoreLog;
  /** The keys of the jobs that have not ended. */
  pending: StoreLog;
  /** The text so far of a job that was sent; null for others. */
  readText(key: string): Promise<string | null>;
  writeText(key: string, textSoFar: string): Promise<void>;
  isCancelRequested(key: string): Promise<boolean>;
  requestCancel(key: string): Promise<void>;
  readHeartbeat(owner: string): Promise<Heartbeat | null>;
  writeHeartbeat(owner: string, heartbeat: Heartbeat): Promise<void>;
  /** Its jobs may be continued by others at once. */
  eraseHeartbeat(owner: string): Promise<void>;
}

/** @param expiresInMs the expiry of jobs */
export function createJobRecords(store: Store, expiresInMs: number): JobRecords {
  return {
    read: async (key) => parse(jobRecord, await store.get(key)),
    write: (record) => store.set(toJobKey(record.id, record.caller.id), write(record), { expiresInMs }),
    writeFirst: async (record) =>
      parse(jobRecord, await store.setIfAbsent(toJobKey(record.id, record.caller.id), write(record), { expiresInMs })),
    async erase({ id, caller, listed }) {
      await erase(store, toJobKey(id, caller.id));
      await createList(caller.id).remove(listed);
    },
    listOf: createList,
    pending: createStoreLog(store, 'essay-jobs-pending', expiresInMs),
    readText: async (key) => parse(writtenText, await store.get(`${key}:text`))?.textSoFar ?? null,
    writeText: (key, textSoFar) =>
      store.set(`${key}:text`, JSON.stringify({ textSoFar }), { expiresInMs: textExpiresInMs }),
    isCancelRequested: async (key) => Boolean(await store.get(`${key}:cancel`)),
    requestCancel: (key) => store.set(`${key}:cancel`, '1', { expiresInMs }),
    readHeartbeat: async (owner) => parse(heartbeat, await store.get(toOwnerKey(owner))),
    writeHeartbeat: (owner, heartbeat) =>
      store.set(toOwnerKey(owner), JSON.stringify(heartbeat), { expiresInMs: heartbeatExpiresInMs }),
    eraseHeartbeat: (owner) => erase(store, toOwnerKey(owner)),
  };

  function createList(callerId: string): StoreLog {
    return createStoreLog(store, `essay-jobs:${hash([callerId])}`, expiresInMs);
  }
}

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
const heartbeatExpiresInMs = 10_000;

function toOwnerKey(owner: string): string {
  return `essay-jobs-owner:${owner}`;
}

function write(record: JobRecord): string {
  return JSON.stringify({ version: 1, ...record });
}

/** @throws StoreError when the record is damaged or of a later version */
function parse<T>(schema: z.ZodType<T>, text: string | null): T | null {
  if (!text) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new StoreError('a record is damaged or of a later version');
  }
}

const callBudget = z.object({ calls: z.number(), period: z.enum(['day', 'month']) }).nullable();

const jobRecord: z.ZodType<JobRecord> = z.object({
  version: z.literal(1),
  id: z.string(),
  createdAt: z.coerce.date(),
  order: essayInput.and(z.object({ idempotencyKey: z.string(), orderAgain: z.boolean() })),
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
  owner: z.string(),
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

const heartbeat: z.ZodType<Heartbeat> = z.object({ waiting: z.array(z.string()) });
