import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { GatewayError, upstreamErrorCodes } from '../../../base/errors.ts';
import { type Store, StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import {
  type Essay,
  type EssayArchive,
  type EssayFailure,
  type EssayFieldProblem,
  type EssayInput,
  type EssayOrder,
  essayModes,
  essayWriters,
  type InvalidEssayInput,
  writingPurposes,
} from '../essays.ts';
import { type DurableWrites, duplicateEssay } from './durable-writes.ts';

/** The essays that were paid for, by order and by id, and the last attempt of each order. */
export interface OrderArchive extends EssayArchive {
  /** InvalidEssayInput if the key was used for a different order. @throws StoreError */
  findByOrder(key: OrderKey): Promise<Essay | InvalidEssayInput | null>;
  /** Like `findByOrder`, but searches only the buffered writes. */
  findBufferedByOrder(key: OrderKey): Essay | InvalidEssayInput | null;
  /**
   * Resolves when the essay is stored or buffered; never rejects. @returns the essay of the order: the first that was
   * stored, so that a process that lost the order lock and is late does not replace an essay that a client received
   */
  save(essay: Essay, key: OrderKey | null, callerId: string): Promise<Essay>;
  /** @throws StoreError */
  findAttempt(key: OrderKey): Promise<Attempt | null>;
  /**
   * Records that the order is about to be sent, until its failure replaces the record. It is ignored once there is an essay,
   * which expires later. Never rejects. @returns whether it is recorded
   */
  saveSent(key: OrderKey): Promise<boolean>;
  /** Lets other processes that wait for the order return the same failure. Never rejects. */
  saveFailure(key: OrderKey, failure: EssayFailure): Promise<void>;
  /** Removes the essay of an order, and what is known of its last attempt. @throws StoreError */
  deleteOrder(key: OrderKey, essayId: string | null, callerId: string): Promise<void>;
}

/** The last attempt of an order without an essay. */
interface Attempt {
  /** Whether the key was used for the same order. */
  isSameOrder: boolean;
  /** How it failed, with a random id. Null: it is being sent, or was sent by a process that did not record its outcome. */
  failed: { id: string; failure: EssayFailure } | null;
  /** Whether it was sent and not refused, so that only `orderAgain` lets the order be sent again. */
  needsConsent: boolean;
}

interface ArchiveOptions {
  store: Store;
  writes: DurableWrites;
  /** The expiry of essays and attempts. */
  expiresInMs: number;
  events: Pick<Events, 'essayLost'>;
}

export function createArchive({ store, writes, expiresInMs, events }: ArchiveOptions): OrderArchive {
  return {
    async find(id, { callerId }) {
      try {
        const found = parseRecord(essayRecord, await writes.get(essayStoreKey(id, callerId)));
        const record =
          found && 'orderName' in found ? parseRecord(orderRecord, await writes.get(found.orderName)) : found;
        return record?.essay ?? null;
      } catch (cause) {
        const message = 'Stored essays cannot be read at the moment. Try again later.';
        throw new GatewayError('INTERNAL_SERVER_ERROR', message, { retryable: true, cause });
      }
    },
    findByOrder: async (key) => parseOrder(await writes.get(key.storeKey), key),
    findBufferedByOrder: (key) => parseOrder(writes.getBuffered(key.storeKey), key),
    async save(essay, key, callerId) {
      const id = essayStoreKey(essay.id, callerId);
      const earlier = key && (await writeOrder(essay, key, id));
      if (earlier?.kind === 'essay') {
        events.essayLost(duplicateEssay);
        return earlier;
      }
      if (!key || earlier) await writes.write({ [id]: JSON.stringify({ version: 1, essay }) });
      return essay;
    },
    findAttempt,
    async saveSent({ attemptKey, fingerprint }) {
      const record = JSON.stringify({ version: 1, digest: fingerprint, isSent: true });
      try {
        await store.set(attemptKey, record, { expiresInMs });
        return true;
      } catch {
        return false;
      }
    },
    async saveFailure({ attemptKey, fingerprint }, failure) {
      const isUnread = failure.kind === 'service-failed' && failure.outcome !== undefined;
      const record = { version: 1, attempt: randomUUID(), digest: fingerprint, failure, isUnread };
      await store.set(attemptKey, JSON.stringify(record), { expiresInMs }).catch(() => {});
    },
    async deleteOrder({ storeKey, attemptKey }, essayId, callerId) {
      await writes.flush();
      const names = [storeKey, attemptKey, ...(essayId === null ? [] : [essayStoreKey(essayId, callerId)])];
      await Promise.all(names.map((name) => store.delete(name)));
    },
  };

  async function findAttempt({ attemptKey, fingerprint }: OrderKey): Promise<Attempt | null> {
    const found = parseRecord(attemptRecord, await store.get(attemptKey));
    if (found === null) return null;
    const isSameOrder = found.digest === fingerprint;
    if ('isSent' in found) return { isSameOrder, failed: null, needsConsent: true };
    const { attempt: id, failure, isUnread: needsConsent } = found;
    return isSameOrder || needsConsent ? { isSameOrder, failed: { id, failure }, needsConsent } : null;
  }

  /** The earlier essay, if there was one; `differentOrder` if it cannot be read. */
  async function writeOrder(essay: Essay, key: OrderKey, id: string): Promise<Essay | InvalidEssayInput | null> {
    const { storeKey, fingerprint } = key;
    const reference = JSON.stringify({ version: 1, orderName: storeKey });
    const record = JSON.stringify({ version: 1, digest: fingerprint, essay });
    const entries = { [id]: reference, [storeKey]: record };
    const earlier = await writes.write(entries, storeKey);
    try {
      const found = parseOrder(earlier, key);
      if (earlier !== null && found === null) await writes.write(entries);
      return found;
    } catch {
      return differentOrder;
    }
  }
}

function parseOrder(text: string | null, { fingerprint }: OrderKey): Essay | InvalidEssayInput | null {
  const found = parseRecord(orderRecord, text);
  return found && (found.digest === fingerprint ? found.essay : differentOrder);
}

/** A stored record; null if there is none. @throws StoreError when it is damaged or of a later version */
export function parseRecord<T>(schema: z.ZodType<T>, text: string | null): T | null {
  try {
    return text === null ? null : schema.parse(JSON.parse(text));
  } catch {
    throw new StoreError('a record is damaged or of a later version');
  }
}

/** Identifies an order with an idempotency key. */
export interface OrderKey {
  /** One per caller and idempotency key: where the essay is stored. */
  storeKey: string;
  /** Where the last attempt is stored. */
  attemptKey: string;
  lockKey: string;
  /** One per input: the same store key with another fingerprint is a different order. */
  fingerprint: string;
}

export function toOrderKey(order: EssayOrder, callerId: string): OrderKey | null {
  const { description, mode, wordCount, purpose, titles, idempotencyKey } = order;
  if (idempotencyKey === null) return null;
  // Trimmed, as on the wire.
  const input = [description.trim(), mode, wordCount, purpose, titles.map((title) => title.trim())];
  const storeKey = `essay-order:${hash([callerId, idempotencyKey])}`;
  return {
    storeKey,
    attemptKey: `${storeKey}:attempt`,
    lockKey: `${storeKey}:lock`,
    fingerprint: hash(input),
  };
}

/** Includes the caller, so that a caller cannot read the essays of another. */
export function essayStoreKey(id: string, callerId: string): string {
  return `essay:${hash([callerId, id])}`;
}

const keyProblem: EssayFieldProblem = {
  field: 'idempotencyKey',
  reason: 'KEY_REUSED',
  range: null,
  message: 'The idempotency key was used for a different order; choose a new key for this order.',
};

/** The result if the idempotency key was already used with a different input. */
export const differentOrder: InvalidEssayInput = {
  kind: 'invalid-input',
  field: keyProblem.field,
  message: keyProblem.message,
  problems: [keyProblem],
};

/** Hashes the parts as JSON, so that different parts never give the same text. */
export function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/* The records. */
const version = z.literal(1);
const message = z.string();
const orderField = z.enum(['description', 'mode', 'wordCount', 'purpose', 'titles', 'idempotencyKey']);

const date = z.coerce.date().nullable();

export const essayInput: z.ZodType<EssayInput> = z.object({
  description: z.string(),
  mode: z.enum(essayModes),
  wordCount: z.number(),
  purpose: z.enum(writingPurposes).nullable(),
  titles: z.array(z.string()),
});

const essay: z.ZodType<Essay> = z.object({
  kind: z.literal('essay'),
  id: z.string(),
  text: z.string(),
  wordCount: z.number(),
  mode: z.enum(essayModes),
  writer: z.enum(essayWriters).nullable(),
  createdAt: date,
  keptUntil: date,
  input: essayInput.nullable(),
});

export const failure: z.ZodType<EssayFailure> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('invalid-input'),
    message,
    field: orderField.nullable(),
    // Only rejections by the service are stored, which does not report fields.
    problems: z.unknown().transform((): [] => []),
  }),
  z.object({
    kind: z.literal('allowance-exhausted'),
    message,
    code: z.enum(['UPSTREAM_ALLOWANCE_EXHAUSTED', 'BUDGET_EXHAUSTED']),
    renewsAt: z.coerce.date().nullable(),
  }),
  z.object({
    kind: z.literal('service-failed'),
    message,
    code: z.enum(upstreamErrorCodes),
    retryable: z.boolean(),
    rawText: z.string().nullable(),
    outcome: z.enum(['unreadable', 'unknown']).optional(),
  }),
]);

/** Stored under `essayStoreKey`; `orderName` is the store key of its order. */
const essayRecord = z.union([z.object({ version, essay }), z.object({ version, orderName: z.string() })]);

/** Stored under `storeKey` of the order. */
const orderRecord = z.object({ version, digest: z.string(), essay });

/** Stored under `attemptKey`. `isUnread` is `needsConsent`, by its name in earlier releases. */
const attemptRecord = z.union([
  z.object({ version, attempt: z.string(), digest: z.string(), failure, isUnread: z.boolean() }),
  z.object({ version, digest: z.string(), isSent: z.literal(true) }),
]);
