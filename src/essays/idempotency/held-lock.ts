import { pause } from '../../async/pause.ts';
import type { Signal } from '../../async/signal.ts';
import type { Lock, Store } from '../../stores/store.ts';

/** A lock that is extended until it is released. None of its functions rejects. */
export interface HeldLock {
  /** Whether it was held without interruption until now. Queries the store, and extends the lock. */
  confirm(): Promise<boolean>;
  /** Whether it cannot have expired since the store last extended it. Does not need the store. */
  isUnexpired(): boolean;
  /** From now on a lost lock is acquired again, so that other processes wait for the order that was sent. */
  reacquireIfLost(): void;
  release(): Promise<void>;
}

export interface HeldLocks {
  /** Null if another process holds the lock. @throws StoreError or the signal's reason */
  acquire(key: string, signal: Signal): Promise<HeldLock | null>;
}

/**
 * The store may lose its locks while it is down. After each outage, their holders first acquire them again, before any
 * process acquires a new one.
 */
export function createHeldLocks(store: Store, onRecovered: (listener: () => void) => void): HeldLocks {
  const extendNow = new Set<() => void>();
  let settledAt = 0;
  onRecovered(() => {
    settledAt = performance.now() + settleMs;
    for (const extend of extendNow) extend();
  });

  return {
    async acquire(key, signal) {
      while (performance.now() < settledAt) await pause(settledAt - performance.now(), signal);
      const acquiredAt = performance.now();
      const lock = await store.lock(key, { expiresInMs: lockMs });
      return lock && hold(key, lock, acquiredAt);
    },
  };

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
      reacquireIfLost() {
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
      // The lock expired while this process stood still, or the store lost its data.
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

/** Short, so that the order of a crashed process is soon taken over. */
const lockMs = 30_000;
const extendMs = 10_000;
/** Longer than the longest pause before another process reconnects to Redis. */
const settleMs = 3_000;
