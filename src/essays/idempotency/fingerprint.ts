import { createHash } from 'node:crypto';
import type { EssayOrder, InvalidEssayInput } from '../essays.ts';

/** An order with an idempotency key. */
export interface KeyedOrder {
  /** One per caller and idempotency key. */
  storeKey: string;
  /** One per input: the same store key with another fingerprint is a different order. */
  fingerprint: string;
}

export function toKeyedOrder(order: EssayOrder, callerId: string): KeyedOrder | null {
  const { description, mode, wordCount, purpose, titles, idempotencyKey } = order;
  if (idempotencyKey === null) return null;
  // Trimmed, as on the wire.
  const input = [description.trim(), mode, wordCount, purpose, titles.map((title) => title.trim())];
  return { storeKey: `essay-order:${hash([callerId, idempotencyKey])}`, fingerprint: hash(input) };
}

/** Contains the caller, so that no caller finds the essays of another. */
export function essayStoreKey(id: string, callerId: string): string {
  return `essay:${hash([callerId, id])}`;
}

/** The result when the idempotency key has another fingerprint. */
export const differentOrder: InvalidEssayInput = {
  kind: 'invalid-input',
  field: 'idempotencyKey',
  message: 'idempotencyKey was used for a different order; choose a new key for this order.',
};

/** Of JSON, which separates the parts unambiguously. */
function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
