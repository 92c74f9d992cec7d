import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Store } from '../../stores/store.ts';
import type { Essay, EssayResult } from '../essays.ts';
import type { OrderIdentity } from './fingerprint.ts';
import { parseRecord, version1 } from './record.ts';

type EssayFailure = Exclude<EssayResult, Essay>;

export interface FailedAttempt {
  /** Random, to distinguish it from later attempts. */
  id: string;
  failure: EssayFailure;
  /** Whether its raw text was paid for and has not been delivered yet. */
  hasUndeliveredText: boolean;
}

/** The last failed attempt of each order. Processes that wait for the order return the same failure. */
export interface FailedAttempts {
  /** @throws StoreError */
  find(order: OrderIdentity): Promise<FailedAttempt | null>;
  /** Never rejects. */
  record(order: OrderIdentity, failure: EssayFailure, options: { isDelivered: boolean }): Promise<void>;
}

/** Failed attempts expire after a minute; those with undelivered raw text after `undeliveredTextExpiresInMs`. */
export function createFailedAttempts(store: Store, undeliveredTextExpiresInMs: number): FailedAttempts {
  return {
    async find({ storeKey, fingerprint }) {
      const found = parseRecord(failureRecord, await store.get(`${storeKey}:failure`));
      if (found?.digest !== fingerprint) return null;
      return { id: found.attempt, failure: found.failure, hasUndeliveredText: found.isUnread };
    },
    async record({ storeKey, fingerprint }, failure, { isDelivered }) {
      const isUnread = !isDelivered && failure.kind === 'service-failed' && failure.rawText !== null;
      const record = { version: 1, attempt: randomUUID(), digest: fingerprint, failure, isUnread };
      const expiresInMs = isUnread ? undeliveredTextExpiresInMs : failureExpiresInMs;
      await store.set(`${storeKey}:failure`, JSON.stringify(record), { expiresInMs }).catch(() => {});
    },
  };
}

const failureExpiresInMs = 60_000;

const message = z.string();
const orderField = z.enum(['description', 'mode', 'wordCount', 'purpose', 'titles', 'idempotencyKey']);
const failure: z.ZodType<EssayFailure> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('invalid-input'),
    message,
    field: orderField.nullable(),
    // Release 0.1.0 wrote none.
    problems: z.array(z.object({ field: orderField, message })).default([]),
  }),
  z.object({ kind: z.literal('allowance-exhausted'), message, renewsAt: z.coerce.date().nullable() }),
  z.object({
    kind: z.literal('service-failed'),
    message,
    code: z.enum([
      'UPSTREAM_REJECTED_CREDENTIALS',
      'UPSTREAM_ALLOWANCE_EXHAUSTED',
      'UPSTREAM_UNAVAILABLE',
      'UPSTREAM_TIMED_OUT',
      'UPSTREAM_FAILED',
    ]),
    retryable: z.boolean(),
    rawText: z.string().nullable(),
  }),
]);

/** The property names are those of release 0.1.0. */
const failureRecord = z.object({
  version: version1,
  attempt: z.string(),
  digest: z.string(),
  failure,
  isUnread: z.boolean(),
});
