import { randomUUID } from 'node:crypto';
import { pause } from '../../async/pause.ts';
import type { Signal } from '../../async/signal.ts';
import type { RequestContext } from '../../request-context.ts';
import type { OpenedStore } from '../../stores/open-store.ts';
import { type Lock, StoreError } from '../../stores/store.ts';
import type { EssayOrder, EssayResult, EssayServiceFailed, SendingEssayGenerator } from '../essays.ts';
import type { OrderArchive } from './archive.ts';
import { differentOrder, type OrderKey } from './order-key.ts';

/** The result of an order, if there is one; otherwise its lock. */
type Acquired = { result: EssayResult } | { lock: HeldLock };

interface OrderLockOptions extends Pick<OpenedStore, 'store' | 'isShared' | 'onRecovered'> {
  archive: OrderArchive;
}

/**
 * Lets one process at a time send an order; other processes wait for its result. The lock of a process that
 * crashed or stalled expires, and a waiting process takes over. If the order had been sent, it takes over only an order
 * that accepts a second payment.
 * @returns a function that throws StoreError or the signal's reason
 */
export function createOrderLock({ archive, ...openedStore }: OrderLockOptions) {
  const locks = createHeldLocks(openedStore);

  return async function acquire(key: OrderKey, { orderAgain }: EssayOrder, signal: Signal): Promise<Acquired> {
    const buffered = archive.findBufferedByOrder(key);
    if (buffered) return { result: buffered };
    /** The failed attempt when this call began: the client retries that one. Undefined until the first look. */
    let failedAtStart: string | null | undefined;

    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const lock = await locks.acquire(`${key.storeKey}:lock`, signal).catch(toError);
      if (lock instanceof Error) {
        signal.throwIfAborted();
        // A store that rejects writes may still return a stored essay.
        const stored = await archive.findByOrder(key);
        if (stored) return { result: stored };
        throw lock;
      }
      const finding = Promise.all([findResult({ isRunning: lock === null }), locks.areSettled()]);
      const [result, areSettled] = await finding.catch(async (error) => {
        await lock?.release();
        throw error;
      });
      if (lock && !result && areSettled) return { lock };
      await lock?.release();
      if (result) return { result };
      await pause(pauseMs, signal);
    }

    /** @param isRunning whether a process holds the lock */
    async function findResult({ isRunning }: { isRunning: boolean }): Promise<EssayResult | null> {
      const [stored, attempt] = await Promise.all([archive.findByOrder(key), archive.findAttempt(key)]);
      if (stored) return stored;
      const failed = attempt?.kind === 'failed' ? attempt : null;
      if (failedAtStart === undefined) failedAtStart = failed?.id ?? null;
      if (attempt?.kind === 'sent' && !isRunning) {
        if (!attempt.isSameOrder) return differentOrder;
        return orderAgain ? null : unknownOutcome;
      }
      // A failure from before this call that was already delivered does not count: the client is retrying.
      if (!failed || (failed.id === failedAtStart && !failed.isUnread)) return null;
      signal.throwIfAborted();
      if (failed.isUnread) await archive.saveFailure(key, failed.failure, { isDelivered: true });
      return failed.failure;
    }
  };
}

/** The process that sent the order has crashed, has stalled, or could not store its outcome. */
const unknownOutcome: EssayServiceFailed = {
  kind: 'service-failed',
  message:
    'An earlier attempt of this order was sent, and its outcome is unknown: it may have been paid for. Order the essay ' +
    'again only if it may be paid for twice.',
  code: 'UPSTREAM_FAILED',
  retryable: false,
  rawText: null,
};

/**
 * Generates an essay, and sends each attempt only if it is recorded, and while the lock is held: without it, another process
 * may be sending the same order. @returns why it was not sent: `lock-lost` if nothing was recorded either, so that the lock
 * can be acquired again
 */
export async function generateWithLock(
  lock: HeldLock,
  generator: SendingEssayGenerator,
  order: EssayOrder,
  context: RequestContext,
  recordAttempt: () => Promise<boolean>,
  onText: (textSoFar: string) => void,
): Promise<EssayResult | 'lock-lost' | 'unsafe'> {
  let isRecorded = false;
  let isSafe = true;
  try {
    const result = await generator.generate(order, context, {
      async maySend() {
        isSafe = await lock.confirm();
        context.signal.throwIfAborted();
        if (!isSafe) return false;
        isRecorded = true;
        isSafe = await recordAttempt();
        return isSafe;
      },
      beforeAttempt() {
        // The process may have been suspended since the store confirmed the lock. Stops this attempt; caught below.
        if (!lock.isUnexpired()) throw new LockLostError();
        lock.allowReacquire();
      },
      onText,
    });
    if (isSafe) return result;
    return isRecorded ? 'unsafe' : 'lock-lost';
  } catch (error) {
    if (error instanceof LockLostError) return 'unsafe';
    throw error;
  }
}

class LockLostError extends Error {
  constructor() {
    super('The lock of the order expired before it was sent.');
    this.name = 'LockLostError';
  }
}

/** A lock that is extended until it is released. None of its functions rejects. */
export interface HeldLock {
  /** Whether it was held without interruption until now. Queries the store, and extends the lock. */
  confirm(): Promise<boolean>;
  /** Whether it cannot have expired since the store last extended it. Does not need the store. */
  isUnexpired(): boolean;
  /** From now on a lost lock is acquired again, so that other processes wait for the order that was sent. */
  allowReacquire(): void;
  release(): Promise<void>;
}

interface HeldLocks {
  /** Null if another process holds it. @throws StoreError or the signal's reason */
  acquire(key: string, signal: Signal): Promise<HeldLock | null>;
  /** Whether no lock can have been lost in the last 3 s. Call it after acquiring a lock, which may be used only then. @throws StoreError */
  areSettled(): Promise<boolean>;
}

/**
 * A shared store may lose its locks, while it is down or with all of its data. Then their holders first acquire them again,
 * before any process uses a new one.
 */
function createHeldLocks({ store, isShared, onRecovered }: Omit<OrderLockOptions, 'archive'>): HeldLocks {
  const extendNow = new Set<() => void>();
  let settledAt = 0;
  onRecovered(() => {
    settledAt = performance.now() + settleMs;
    for (const extend of extendNow) extend();
  });
  /** The stored marker, which is lost with the locks; null until it was read. */
  let marker: string | null = null;
  // Reads the marker at the start, so that the first order of a new store rarely waits, and a later loss is noticed.
  if (isShared) void areSettled().catch(() => {});

  return {
    async acquire(key, signal) {
      const givesUpAt = performance.now() + settleMs;
      while (performance.now() < settledAt) {
        // It fails again and again.
        if (performance.now() > givesUpAt) throw new StoreError('the connection is not stable');
        await pause(settledAt - performance.now(), signal);
      }
      const acquiredAt = performance.now();
      const lock = await store.lock(key, { expiresInMs: lockMs });
      return lock && hold(key, lock, acquiredAt);
    },
    areSettled,
  };

  async function areSettled(): Promise<boolean> {
    if (!isShared) return true;
    const own = randomUUID();
    const found = (await store.setIfAbsent(markerKey, own, { expiresInMs: markerMs })) ?? own;
    const isNew = found === own || (marker !== null && marker !== found);
    if (isNew) settledAt = performance.now() + settleMs;
    marker = found;
    return performance.now() >= settledAt;
  }

  function hold(key: string, acquired: Lock, acquiredAt: number): HeldLock {
    let lock = acquired;
    let extendedAt = acquiredAt;
    let wasLost = false;
    let isReacquired = false;
    let isReleased = false;
    // A store that fails is not fatal: the next extension may succeed before the lock expires.
    const extend = () => void tryExtend().catch(() => {});
    const timer = setInterval(extend, extendMs);
    extendNow.add(extend);

    return {
      confirm: () => tryExtend().catch(() => false),
      isUnexpired: () => !wasLost && performance.now() - extendedAt < lockMs,
      allowReacquire() {
        isReacquired = true;
      },
      async release() {
        isReleased = true;
        clearInterval(timer);
        extendNow.delete(extend);
        await lock.release().catch(() => {});
      },
    };

    async function tryExtend(): Promise<boolean> {
      const startedAt = performance.now();
      if (await lock.extend({ expiresInMs: lockMs })) extendedAt = startedAt;
      // The lock expired while this process was suspended, or the store lost its data.
      else await reacquire();
      return !wasLost;
    }

    async function reacquire(): Promise<void> {
      wasLost = true;
      const again = isReacquired && !isReleased ? await store.lock(key, { expiresInMs: lockMs }) : null;
      if (again && isReleased) await again.release();
      else if (again) lock = again;
    }
  }
}

const minPauseMs = 100;
const maxPauseMs = 1_000;
/** Eight extensions. A request that repeats an order of a crashed process waits for so long, which proxies must allow. */
const lockMs = 8_000;
/** An extension, and the time limit of its command (1 s), must end within `settleMs`. */
const extendMs = 1_000;
/** Longer than the longest pause before another process reconnects to Redis. */
const settleMs = 3_000;
export const markerKey = 'essay-order-locks';
/** A year. When it expires, and when a store is used for the first time, orders wait once for `settleMs`. */
export const markerMs = 365 * 86_400_000;

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
