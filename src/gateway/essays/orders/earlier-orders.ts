import * as z from 'zod';
import type { Store } from '../../stores/store.ts';
import type { Essay } from '../port.ts';
import {
  callerSchema,
  type EndedState,
  essaySchema,
  failureSchema,
  hash,
  type OrderRecord,
  orderSchema,
  parseRecord,
  toFingerprint,
  unsentFailure,
} from './order-record.ts';

interface EarlierOrdersOptions {
  store: Store;
  /** How long orders and essays are stored. */
  keepMs: number;
}

/** The process of an order that a gateway of the earlier version runs. */
export const earlierProcess = 'earlier version';

/**
 * Orders in the form of the version before, which had a lock, an attempt and an essay for each order, and a job for each that was
 * listed. They are read as records until they are changed. A gateway of that version that uses the same store sends no order of this
 * one. This file can go ESSAY_KEEP_DAYS after an update, when no such data are left. Functions throw StoreError.
 */
export function createEarlierOrders({ store, keepMs }: EarlierOrdersOptions) {
  return {
    /** The order, as the record of this version. */
    async read(id: string, callerId: string): Promise<OrderRecord | null> {
      const job = parseRecord(jobSchema, await store.get(toJobKey(id, callerId)));
      if (job === null) return null;
      const state = await readState(job);
      const { order, createdAt, caller, isAwaited, listed } = job;
      const process = state.kind === 'queued' || state.kind === 'sent' ? earlierProcess : null;
      const run = {
        process,
        run: earlierProcess,
        attempts: 1,
        isCancelRequested: false,
        isRepeated: false,
        earlier: null,
      };
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
      if ((await store.get(markerKey)) === null) return null;
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

const notSent = unsentFailure(
  'The order was started by an earlier version of the gateway, which did not send it. Order the essay again.',
);

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
