import * as z from 'zod';
import { GatewayError } from '../../../base/errors.ts';
import { type Store, StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Essay, EssayServiceFailed } from '../essays.ts';
import {
  callerSchema,
  type EndedState,
  essaySchema,
  failureSchema,
  hash,
  isEnded,
  isHidden,
  type OrderEvent,
  type OrderRecord,
  orderSchema,
  parseRecord,
  recordSchema,
  recordVersion,
  toEssayKey,
  toFingerprint,
  toOrderKey,
  transition,
} from './order-record.ts';

interface OrderStoreOptions {
  store: Store;
  /** How long orders and essays are stored. */
  keepMs: number;
  /** Whether gateways of different versions may use the store. */
  isShared: boolean;
  events: Pick<Events, 'essayOrderUnreadable'>;
}

export type OrderStore = ReturnType<typeof createOrderStore>;

/** Stored orders, and their essays. Functions throw StoreError, with the failure `corrupt` for what is damaged or of a later version. */
export function createOrderStore({ store, keepMs, isShared, events }: OrderStoreOptions) {
  const earlier = createEarlierOrders({ store, keepMs, isShared });
  const expiry = { expiresInMs: keepMs };

  return {
    read,
    change,
    claim: earlier.claim,
    /** Lets the essay be found by its id: with its order, or by itself if it has none. */
    async writeEssay(essay: Essay, callerId: string, orderKey: string | null): Promise<void> {
      const entry = orderKey === null ? { version: 1, essay } : { version: 2, orderKey };
      await store.set(toEssayKey(essay.id, callerId), JSON.stringify(entry), expiry);
    },
    async readEssay(essayId: string, callerId: string): Promise<Essay | null> {
      const entry = parseRecord(essayEntry, await store.get(toEssayKey(essayId, callerId)));
      if (entry === null) return null;
      if ('essay' in entry) return entry.essay;
      if ('orderName' in entry) return earlier.readEssay(entry.orderName);
      const record = parseRecord(recordSchema, await store.get(entry.orderKey));
      return record?.state.kind === 'finished' && record.state.essay.id === essayId ? record.state.essay : null;
    },
    /** Deletes an order that was seen to have ended, with its essay. False if it has changed since. */
    async erase(seen: OrderRecord): Promise<boolean> {
      const { id, caller, listed, state } = seen;
      const key = toOrderKey(id, caller.id);
      const { text, record } = await readText(key, seen);
      if (record?.run !== seen.run || record.state.kind !== state.kind) return false;
      if (!(await store.replace(key, text, null, expiry))) return false;
      const essayId = state.kind === 'finished' ? state.essay.id : null;
      await Promise.all([
        essayId !== null && store.delete(toEssayKey(essayId, caller.id)),
        listed !== null && listOf(caller.id).remove(listed),
        store.delete(toTextKey(seen)),
        earlier.erase(seen),
      ]);
      return true;
    },
    /** The ids of a caller's orders, in the order in which they were started. */
    listOf,
    /** For an entry or a record that is damaged or of a later version: it must not hide others. @throws other errors */
    skipUnreadable,
    /** The text so far of an order that another process has sent. */
    async readTextSoFar(record: OrderRecord): Promise<string> {
      return parseRecord(writtenText, await store.get(toTextKey(record)))?.textSoFar ?? '';
    },
    async writeTextSoFar(record: OrderRecord, textSoFar: string): Promise<void> {
      await store.set(toTextKey(record), JSON.stringify({ textSoFar }), { expiresInMs: textExpiresInMs });
    },
  };

  async function read(id: string, callerId: string): Promise<OrderRecord | null> {
    return (await readText(toOrderKey(id, callerId), { id, caller: { id: callerId } })).record;
  }

  async function readText(key: string, { id, caller }: { id: string; caller: { id: string } }) {
    const text = await store.get(key);
    const record = parseRecord(recordSchema, text) ?? (await earlier.read(id, caller.id));
    return { text, record };
  }

  /**
   * Applies an event to an order, across all processes. If it fails, it may have taken effect.
   * @returns the order afterwards
   */
  async function change(id: string, callerId: string, event: OrderEvent): Promise<OrderRecord | null> {
    const key = toOrderKey(id, callerId);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const { text, record } = await readText(key, { id, caller: { id: callerId } });
      const next = transition(record, event);
      if (next === record) return next;
      const isFleeting = next !== null && isEnded(next) && isHidden(next);
      const nextText = next && JSON.stringify({ version: recordVersion, ...next });
      if (await store.replace(key, text, nextText, isFleeting ? fleeting : expiry)) return next;
    }
    throw new StoreError('other processes keep changing the order');
  }

  function listOf(callerId: string) {
    return createStoreLog({ store, name: `essay-jobs:${hash([callerId])}`, expiresInMs: keepMs, skipUnreadable });
  }

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
export function createStoreLog({ store, name, expiresInMs, skipUnreadable }: StoreLogOptions) {
  const toKey = (number: number) => `${name}:${number}`;

  return {
    /** @returns the number of the entry */
    async append(value: string): Promise<number> {
      const number = (await store.add(name, 1, counterExpiry)).sum;
      await store.set(toKey(number), value, { expiresInMs });
      return number;
    },
    /** Number of the last entry; 0: there was none. `logId` is another one after the store has lost the list. */
    async last(): Promise<{ number: number; logId: string }> {
      const { sum, id } = await store.add(name, 0, counterExpiry);
      return { number: sum, logId: id };
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
}

/** @throws GatewayError for clients */
export function failToReadEssays(cause: unknown): never {
  const message = 'Stored essays cannot be read at the moment. Try again later.';
  throw new GatewayError('INTERNAL_SERVER_ERROR', message, { retryable: true, cause });
}

/** Under the id of a run, so that it does not show the text of another one. */
function toTextKey({ run, caller }: OrderRecord): string {
  return `essay-text:${hash([caller.id, run])}`;
}

/** Longer than the longest time limit of an essay. */
const textExpiresInMs = 3_600_000;
/** An order that was not sent for its client is kept only for those that wait for it in other processes. */
const fleeting = { expiresInMs: 60_000 };
/** A century: numbers are never used again. */
const counterExpiry = { expiresInMs: 100 * 365 * 86_400_000 };
/** An order is changed by its process, and now and then by its client or by a process that takes over. */
const maxAttempts = 20;

const writtenText = z.object({ textSoFar: z.string() });
/** `orderName`: of an earlier version. */
const essayEntry = z.union([
  z.object({ version: z.literal(1), essay: essaySchema }),
  z.object({ version: z.literal(1), orderName: z.string() }),
  z.object({ version: z.literal(2), orderKey: z.string() }),
]);

/*
 * Orders in the form of the version before, which had a lock, an attempt and an essay for each order, and a job for each that was
 * listed. They are read as records until they are changed. A gateway of that version that uses the same store sends no order of this
 * one. What follows can go ESSAY_KEEP_DAYS after an update, when no such data are left.
 */

/** The process of an order that a gateway of the earlier version runs. */
export const earlierProcess = 'earlier version';

function createEarlierOrders({ store, isShared, keepMs }: Omit<OrderStoreOptions, 'events'>) {
  return {
    /** The order, as the record of this version. */
    async read(id: string, callerId: string): Promise<OrderRecord | null> {
      const job = parseRecord(jobSchema, await store.get(toJobKey(id, callerId)));
      if (job === null) return null;
      const state = await readState(job);
      const { order, createdAt, caller, isAwaited, listed } = job;
      const process = state.kind === 'queued' || state.kind === 'sent' ? earlierProcess : null;
      const run = { process, run: earlierProcess, attempts: 1, isCancelRequested: false, earlier: null };
      return { id, createdAt, order, caller, isAwaited, listed, ...run, state };
    },
    async readEssay(orderKey: string): Promise<Essay | null> {
      return parseRecord(writtenSchema, await store.get(orderKey))?.essay ?? null;
    },
    /**
     * Call it before an order is sent. @returns `busy` if a gateway of the earlier version sends it, or how it has ended there; null: it
     * may be sent
     */
    async claim({ order, caller }: OrderRecord): Promise<EndedState | 'busy' | null> {
      if (!isShared || (await store.get(markerKey)) === null) return null;
      const orderKey = toEarlierKey(order.idempotencyKey, caller.id);
      const lock = await store.lock(`${orderKey}:lock`, { expiresInMs: lockMs });
      if (lock === null) return 'busy';
      try {
        const { attempt, essay } = await readOutcome(orderKey);
        if (essay !== null) return { kind: 'finished', essay };
        const isOther = attempt !== null && !('by' in attempt) && ('isSent' in attempt || attempt.isUnread);
        if (isOther && !order.orderAgain)
          return { kind: 'failed', failure: 'failure' in attempt ? attempt.failure : null };
        const sent = { version: 1, digest: toFingerprint(order), isSent: true, by: 2 };
        await store.set(`${orderKey}:attempt`, JSON.stringify(sent), { expiresInMs: keepMs });
        return null;
      } finally {
        await lock.release().catch(() => {});
      }
    },
    async erase({ id, order, caller }: OrderRecord): Promise<void> {
      const [orderKey, jobKey] = [toEarlierKey(order.idempotencyKey, caller.id), toJobKey(id, caller.id)];
      const keys = [orderKey, `${orderKey}:attempt`, jobKey, `${jobKey}:text`];
      await Promise.all(keys.map((key) => store.delete(key)));
    },
  };

  async function readState({ order, caller, owner, isAwaited, end }: Job): Promise<OrderRecord['state']> {
    const orderKey = toEarlierKey(order.idempotencyKey, caller.id);
    const { attempt, essay } = await readOutcome(orderKey);
    if (essay !== null) return { kind: 'finished', essay };
    if (end?.kind === 'cancelled') return end;
    if (attempt !== null && 'failure' in attempt) return { kind: 'failed', failure: attempt.failure };
    if (end?.kind === 'failed') return end;
    const lock = await store.lock(`${orderKey}:lock`, { expiresInMs: lockMs });
    if (lock === null) return { kind: 'sent' };
    await lock.release();
    if (attempt !== null || isAwaited || end !== null) return { kind: 'failed', failure: null };
    const isRunning = owner !== null && (await store.get(`essay-jobs-owner:${owner}`)) !== null;
    return isRunning ? { kind: 'queued' } : { kind: 'failed', failure: notSent };
  }

  async function readOutcome(orderKey: string) {
    const [attempt, order] = await Promise.all([store.get(`${orderKey}:attempt`), store.get(orderKey)]);
    return { attempt: parseRecord(attemptSchema, attempt), essay: parseRecord(writtenSchema, order)?.essay ?? null };
  }
}

const notSent: EssayServiceFailed = {
  kind: 'service-failed',
  message: 'The order was started by an earlier version of the gateway, which did not send it. Order the essay again.',
  code: 'UPSTREAM_UNAVAILABLE',
  retryable: true,
  rawText: null,
};

const lockMs = 8_000;
/** What gateways of the earlier version set in a store that they share. */
const markerKey = 'essay-order-locks';

function toEarlierKey(idempotencyKey: string, callerId: string): string {
  return `essay-order:${hash([callerId, idempotencyKey])}`;
}

function toJobKey(id: string, callerId: string): string {
  return `essay-job:${hash([callerId, id])}`;
}

type Job = z.infer<typeof jobSchema>;

const version = z.literal(1);
const jobSchema = z.object({
  version,
  createdAt: z.coerce.date(),
  order: orderSchema,
  isAwaited: z.boolean(),
  caller: callerSchema,
  owner: z.string().nullable(),
  listed: z.number(),
  end: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('finished') }),
      z.object({ kind: z.literal('failed'), failure: failureSchema }),
      z.object({ kind: z.literal('cancelled'), mayHaveBeenPaid: z.boolean() }),
    ])
    .nullable(),
});
const writtenSchema = z.object({ version, essay: essaySchema });
/** `by`: written by this version for the earlier one. */
const attemptSchema = z.union([
  z.object({ version, failure: failureSchema, isUnread: z.boolean() }),
  z.object({ version, isSent: z.literal(true), by: z.literal(2).optional() }),
]);
