import { createHash } from 'node:crypto';
import type { EssayOrder } from '../essays.ts';

/** An order that its caller gave a name. */
export interface NamedOrder {
  /** The key in the store: one per caller and idempotency key. */
  name: string;
  /** One per input, so that two orders under one name can be told apart. */
  digest: string;
}

/** Null where the client gave none. */
export function nameOrder(order: EssayOrder, callerId: string): NamedOrder | null {
  const { description, mode, wordCount, purpose, titles, idempotencyKey } = order;
  if (idempotencyKey === null) return null;
  // Trimmed, as they are sent: what makes no difference on the wire makes none here.
  const input = [description.trim(), mode, wordCount, purpose, titles.map((title) => title.trim())];
  return { name: `essay-order:${digest([callerId, idempotencyKey])}`, digest: digest(input) };
}

/** Where an essay is found by its id, by the caller whom it was written for and by nobody else. */
export function nameEssay(id: string, callerId: string): string {
  return `essay:${digest([callerId, id])}`;
}

/** Of one length whatever callers send, and as JSON, so that no two lists read alike. */
function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
