import { randomUUID } from 'node:crypto';
import type { Store } from '../../stores/store.ts';
import type { Essay, EssayResult } from '../essays.ts';
import type { NamedOrder } from './fingerprint.ts';

export type EssayFailure = Exclude<EssayResult, Essay>;

export interface ToldFailure {
  /** Tells this failure from an earlier one of the same order. */
  attempt: string;
  digest: string;
  failure: EssayFailure;
  /** It holds text that was paid for, and nobody was left to read it. */
  isUnread: boolean;
}

/** How the last attempt at a named order failed, told to those who wait for it in other processes. */
export interface ToldFailures {
  find(order: NamedOrder): Promise<ToldFailure | null>;
  /** Never rejects. */
  tell(order: NamedOrder, failure: EssayFailure, options: { isRead: boolean }): Promise<void>;
}

/**
 * Failures are told, not kept: a minute is enough for those who waited, and whoever orders afresh is to try again. But
 * what was paid for and came back unreadable, or in part, is kept until it was read once.
 */
export function createToldFailures(store: Store, keptMs: number): ToldFailures {
  return {
    async find({ name, digest }) {
      const text = await store.get(`${name}:failure`);
      const told = text === null ? null : (JSON.parse(text, reviveDate) as ToldFailure);
      return told?.digest === digest ? told : null;
    },
    async tell({ name, digest }, failure, { isRead }) {
      const isPaidFor = failure.kind === 'service-failed' && failure.rawText !== null;
      const isUnread = isPaidFor && !isRead;
      const told: ToldFailure = { attempt: randomUUID(), digest, failure, isUnread };
      const expiresInMs = isUnread ? keptMs : toldMs;
      await store.set(`${name}:failure`, JSON.stringify(told), { expiresInMs }).catch(() => {});
    },
  };
}

const toldMs = 60_000;

function reviveDate(name: string, value: unknown): unknown {
  return name === 'renewsAt' && typeof value === 'string' ? new Date(value) : value;
}
