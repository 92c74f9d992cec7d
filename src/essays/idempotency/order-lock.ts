import { pause } from '../../async/pause.ts';
import type { Lock, Store } from '../../stores/store.ts';
import type { EssayResult } from '../essays.ts';
import type { OrderArchive } from './archive.ts';
import type { FailedAttempt, FailedAttempts } from './failed-attempts.ts';
import type { OrderIdentity } from './fingerprint.ts';

/** The result of an order, if there is one; otherwise the function that releases the acquired lock. */
type Acquired = { result: EssayResult } | { release: () => Promise<void> };

interface OrderLockOptions {
  store: Store;
  archive: OrderArchive;
  failedAttempts: FailedAttempts;
}

/**
 * Lets one process at a time send an order; the others wait for its result. The lock of a process that crashed
 * or stalled expires, and one of the others takes over.
 * @returns a function that throws StoreError or the signal's reason
 */
export function createOrderLock({ store, archive, failedAttempts }: OrderLockOptions) {
  return async function acquire(order: OrderIdentity, signal: AbortSignal): Promise<Acquired> {
    const buffered = archive.findBufferedByOrder(order);
    if (buffered) return { result: buffered };
    /** The last failed attempt when this call began. */
    let earlier: FailedAttempt | null | undefined;

    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const lock = await store.lock(`${order.storeKey}:lock`, { expiresInMs: lockMs }).catch(toError);
      if (lock instanceof Error) {
        // A store that rejects writes may still return a stored essay.
        const stored = await archive.findByOrder(order);
        if (stored) return { result: stored };
        throw lock;
      }
      const release = lock ? extendUntilReleased(lock) : async () => {};
      const result = await findResult().catch(async (error) => {
        await release();
        throw error;
      });
      if (lock && !result) return { release };
      await release();
      if (result) return { result };
      await pause(pauseMs, signal);
    }

    async function findResult(): Promise<EssayResult | null> {
      const [stored, failed] = await Promise.all([archive.findByOrder(order), failedAttempts.find(order)]);
      if (stored) return stored;
      if (earlier === undefined) earlier = failed;
      // A failure from before this call that was already delivered does not count: the client is retrying.
      if (!failed || (failed.id === earlier?.id && !failed.hasUndeliveredText)) return null;
      signal.throwIfAborted();
      if (failed.hasUndeliveredText) await failedAttempts.record(order, failed.failure, { isDelivered: true });
      return failed.failure;
    }
  };
}

/** Extends the lock again and again. @returns a function that releases it */
function extendUntilReleased(lock: Lock): () => Promise<void> {
  // An extension that fails is not fatal: the next one may succeed before the lock expires.
  const timer = setInterval(() => void lock.extend({ expiresInMs: lockMs }).catch(() => {}), extendMs);
  return async () => {
    clearInterval(timer);
    await lock.release().catch(() => {});
  };
}

/** Short, so that the order of a crashed process is soon taken over. */
const lockMs = 30_000;
const extendMs = 10_000;
const minPauseMs = 100;
const maxPauseMs = 1_000;

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
