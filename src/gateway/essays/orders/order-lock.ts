import { randomUUID } from 'node:crypto';
import { pause } from '../../../base/async/pause.ts';
import type { Signal } from '../../../base/async/signal.ts';
import type { OpenedStore } from '../../stores/open-store.ts';
import { type Lock, StoreError } from '../../stores/store.ts';
import type { EssayOrder, EssayResult, EssayServiceFailed } from '../essays.ts';
import { differentOrder, type OrderArchive, type OrderKey } from './archive.ts';

/** The result of an order, if there is one; otherwise its lock. */
type Acquired = { result: EssayResult } | { lock: HeldLock };

interface OrderLockOptions extends Pick<OpenedStore, 'store' | 'isShared' | 'onRecovered'> {
  archive: OrderArchive;
}

/**
 * Lets one process at a time send an order; other processes wait for its result. The lock of a process that
 * crashed or stalled expires, and a waiting process takes over. If the order had been sent, it takes over only an order
 * that accepts a second payment.
 */
export function createOrderLock({ archive, ...openedStore }: OrderLockOptions) {
  const locks = createHeldLocks(openedStore);

  return { acquire, findOutcome, whileFree: locks.whileFree };

  async function findOutcome(key: OrderKey): Promise<EssayResult | 'writing' | null> {
    const outcome = await look(key);
    if (outcome !== 'sent') return outcome;
    // The process that has sent it may have stored its result meanwhile.
    const latest = await locks.whileFree(key, () => look(key));
    if (latest === 'held') return 'writing';
    return latest === 'sent' ? unknownOutcome : latest;
  }

  /** The stored result of an order, or that it was sent. */
  async function look(key: OrderKey): Promise<EssayResult | 'sent' | null> {
    const [stored, attempt] = await Promise.all([archive.findByOrder(key), archive.findAttempt(key)]);
    if (stored?.kind === 'essay') return stored;
    return attempt?.isSameOrder ? (attempt.failed?.failure ?? 'sent') : null;
  }

  /** @throws StoreError or the signal's reason */
  async function acquire(key: OrderKey, { orderAgain }: EssayOrder, signal: Signal): Promise<Acquired> {
    const buffered = archive.findBufferedByOrder(key);
    if (buffered) return { result: buffered };
    /** The failed attempt when this call began: the client repeats that one. Undefined until the first look. */
    let failedAtStart: string | null | undefined;

    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const lock = await locks.acquire(key, signal).catch(toError);
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
      const failed = attempt?.failed ?? null;
      if (failedAtStart === undefined) failedAtStart = failed?.id ?? null;
      const isSince = failed !== null && failed.id !== failedAtStart;
      if (isSince && attempt?.isSameOrder) return failed.failure;
      if (isRunning || !attempt?.needsConsent) return null;
      if (!attempt.isSameOrder) return differentOrder;
      return orderAgain ? null : (failed?.failure ?? unknownOutcome);
    }
  }
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
  outcome: 'unknown',
};

/** The process may have been suspended since the store confirmed the lock. */
export class LockLostError extends Error {
  constructor() {
    super('The lock of the order expired before it was sent.');
    this.name = 'LockLostError';
  }
}

/** A lock that is extended until it is released. Its functions do not reject. */
interface HeldLock {
  /** Whether it was held without interruption until now. Queries the store, and extends the lock. */
  confirm(): Promise<boolean>;
  /**
   * Call it when the order is sent: from now on a lost lock is acquired again, so that other processes wait for the order.
   * @throws LockLostError if it may have expired since the store last extended it; then the order must not be sent
   */
  beforeAttempt(): void;
  release(): Promise<void>;
}

interface HeldLocks {
  /** Null if another process holds it. @throws StoreError or the signal's reason */
  acquire(key: OrderKey, signal: Signal): Promise<HeldLock | null>;
  /** Runs something while no process can send the order; not if a process holds the lock. @throws StoreError */
  whileFree<Result>(key: OrderKey, run: () => Promise<Result>): Promise<Result | 'held'>;
  /** Whether no lock can have been lost in the last 3 s. Call it after acquiring a lock, which may be used only then. @throws StoreError */
  areSettled(): Promise<boolean>;
}

/**
 * A shared store may lose its locks, while it is down or with all of its data. Then their holders first acquire them again,
 * before any process uses a new one.
 */
function createHeldLocks({ store, isShared, onRecovered }: Omit<OrderLockOptions, 'archive'>): HeldLocks {
  const extendNow = new Set<() => unknown>();
  let settledAt = 0;
  onRecovered(() => {
    settledAt = performance.now() + settleMs;
    for (const extend of extendNow) void extend();
  });
  /** The stored marker, which is lost with the locks; null until it was read. */
  let marker: string | null = null;
  // Reads the marker at the start, so that the first order of a new store rarely waits, and a later loss is noticed.
  if (isShared) void areSettled().catch(() => {});

  return {
    async acquire({ lockKey }, signal) {
      const givesUpAt = performance.now() + settleMs;
      while (performance.now() < settledAt) {
        // It fails again and again.
        if (performance.now() > givesUpAt) throw new StoreError('the connection is not stable');
        await pause(settledAt - performance.now(), signal);
      }
      const acquiredAt = performance.now();
      const lock = await store.lock(lockKey, { expiresInMs: lockMs });
      return lock && hold(lockKey, lock, acquiredAt);
    },
    async whileFree({ lockKey }, run) {
      const lock = await store.lock(lockKey, { expiresInMs: lockMs });
      if (lock === null) return 'held';
      try {
        return await run();
      } finally {
        await lock.release().catch(() => {});
      }
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
    const timer = setInterval(confirm, extendMs);
    extendNow.add(confirm);

    return {
      confirm,
      beforeAttempt() {
        if (wasLost || performance.now() - extendedAt >= lockMs) throw new LockLostError();
        isReacquired = true;
      },
      async release() {
        isReleased = true;
        clearInterval(timer);
        extendNow.delete(confirm);
        await lock.release().catch(() => {});
      },
    };

    async function confirm(): Promise<boolean> {
      const startedAt = performance.now();
      try {
        if (await lock.extend({ expiresInMs: lockMs })) extendedAt = startedAt;
        // The lock expired while this process was suspended, or the store lost its data.
        else await reacquire();
        return !wasLost;
      } catch {
        // The next extension may succeed before the lock expires.
        return false;
      }
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
