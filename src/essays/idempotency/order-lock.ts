import { pause } from '../../async/pause.ts';
import type { Signal } from '../../async/signal.ts';
import type { EssayResult } from '../essays.ts';
import type { OrderArchive } from './archive.ts';
import type { FailedAttempt, FailedAttempts } from './failed-attempts.ts';
import type { OrderIdentity } from './fingerprint.ts';
import type { HeldLock, HeldLocks } from './held-lock.ts';

/** The result of an order, if there is one; otherwise its lock. */
type Acquired = { result: EssayResult } | { lock: HeldLock };

interface OrderLockOptions {
  locks: HeldLocks;
  archive: OrderArchive;
  failedAttempts: FailedAttempts;
}

/**
 * Lets one process at a time send an order; the others wait for its result. The lock of a process that crashed
 * or stalled expires, and one of the others takes over.
 * @returns a function that throws StoreError or the signal's reason
 */
export function createOrderLock({ locks, archive, failedAttempts }: OrderLockOptions) {
  return async function acquire(order: OrderIdentity, signal: Signal): Promise<Acquired> {
    const buffered = archive.findBufferedByOrder(order);
    if (buffered) return { result: buffered };
    /** The last failed attempt when this call began. */
    let earlier: FailedAttempt | null | undefined;

    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const lock = await locks.acquire(`${order.storeKey}:lock`, signal).catch(toError);
      if (lock instanceof Error) {
        signal.throwIfAborted();
        // A store that rejects writes may still return a stored essay.
        const stored = await archive.findByOrder(order);
        if (stored) return { result: stored };
        throw lock;
      }
      const result = await findResult().catch(async (error) => {
        await lock?.release();
        throw error;
      });
      if (lock && !result) return { lock };
      await lock?.release();
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

const minPauseMs = 100;
const maxPauseMs = 1_000;

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
