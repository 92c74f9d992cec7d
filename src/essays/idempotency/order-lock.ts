import type { Lock, Store } from '../../stores/store.ts';
import type { EssayResult } from '../essays.ts';
import type { KeptEssays } from './archive.ts';
import type { ToldFailures } from './failed-attempts.ts';
import type { NamedOrder } from './fingerprint.ts';
import { otherOrder } from './refusals.ts';

/** Either somebody wrote it, or it is ours to write, and nobody else does until we say so. */
export type Turn = { result: EssayResult } | { done: () => Promise<void> };

interface OrderTurnsOptions {
  store: Store;
  kept: KeptEssays;
  failures: ToldFailures;
}

/**
 * Lets one process at a time have a named order written; the others wait for what comes of it. The lock of a process that
 * crashed expires, and then one of those who wait takes over. (A process that stands still for longer loses it, too.)
 * @returns a function that waits for the turn @throws StoreError, or the signal's reason
 */
export function createOrderTurns({ store, kept, failures }: OrderTurnsOptions) {
  return async function awaitTurn(order: NamedOrder, signal: AbortSignal): Promise<Turn> {
    const written = await findWritten();
    if (written) return { result: written };
    const before = await failures.find(order);
    if (before?.isUnread) {
      await failures.tell(order, before.failure, { isRead: true });
      return { result: before.failure };
    }
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const found = await look();
      if (found) return { result: found };
      const lock = await store.lock(`${order.name}:lock`, { expiresInMs: lockedMs });
      if (lock) return lookAgain(hold(lock));
      await pause(pauseMs, signal);
    }

    async function findWritten(): Promise<EssayResult | null> {
      const written = await kept.findOrder(order.name);
      return written && (written.digest === order.digest ? written.essay : otherOrder());
    }

    async function look(): Promise<EssayResult | null> {
      const written = await findWritten();
      if (written) return written;
      // One that was there before we came was told to others: whoever orders afresh is to try again.
      const told = await failures.find(order);
      return told && told.attempt !== before?.attempt ? told.failure : null;
    }

    /** Whoever held the lock may have finished between our look and our lock. */
    async function lookAgain(done: () => Promise<void>): Promise<Turn> {
      try {
        const result = await look();
        if (!result) return { done };
        await done();
        return { result };
      } catch (error) {
        await done();
        throw error;
      }
    }
  };
}

/** Short, so that an order whose process crashed is soon taken over. */
const lockedMs = 30_000;
const extendedEveryMs = 10_000;
const firstPauseMs = 100;
const longestPauseMs = 1_000;

/** @returns a function that frees it */
function hold(lock: Lock): () => Promise<void> {
  // A store that fails now may work again before the lock expires. If not, nothing helps: the order is under way.
  const timer = setInterval(() => void lock.extend({ expiresInMs: lockedMs }).catch(() => {}), extendedEveryMs);
  return async () => {
    clearInterval(timer);
    await lock.release().catch(() => {});
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const leave = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal.addEventListener('abort', leave, { once: true });
  });
}
