import { createHash } from 'node:crypto';
import type { EssayFieldProblem, EssayOrder, InvalidEssayInput } from '../essays.ts';

/** Identifies an order with an idempotency key. */
export interface OrderKey {
  /** One per caller and idempotency key: where the essay is stored. */
  storeKey: string;
  /** Where the last attempt is stored. */
  attemptKey: string;
  lockKey: string;
  /** One per input: the same store key with another fingerprint is a different order. */
  fingerprint: string;
  description: string;
}

export function toOrderKey(order: EssayOrder, callerId: string): OrderKey | null {
  const { description, mode, wordCount, purpose, titles, idempotencyKey } = order;
  if (idempotencyKey === null) return null;
  // Trimmed, as on the wire.
  const input = [description.trim(), mode, wordCount, purpose, titles.map((title) => title.trim())];
  const storeKey = `essay-order:${hash([callerId, idempotencyKey])}`;
  // The name of the attempt comes from release 0.1.0, which stored only failed ones.
  return {
    storeKey,
    attemptKey: `${storeKey}:failure`,
    lockKey: `${storeKey}:lock`,
    fingerprint: hash(input),
    description,
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
