import { LRUCache } from 'lru-cache';
import {
  checkAmount,
  checkKey,
  type Expiry,
  type Lock,
  readExpiry,
  type Store,
  StoreError,
} from '../../src/stores/store.ts';
import { createExpiringMap, type Expiring } from './expiring-map.ts';

interface MemoryStoreOptions {
  now?: () => number;
  /** Most values kept; the least recently used make room. Counters and locks never do: they only expire. */
  maxEntries?: number;
  /** Most memory for keys and values together, by their length. A value larger than that is not kept. */
  maxBytes?: number;
}

/** Keeps everything in this process, and until it ends. */
export function createMemoryStore({
  now = Date.now,
  maxEntries = 10_000,
  maxBytes = 67_108_864,
}: MemoryStoreOptions = {}): Store {
  const values = new LRUCache<string, Expiring<string>>({
    max: maxEntries,
    maxSize: maxBytes,
    // V8 keeps a text in one byte per character, or in two.
    sizeCalculation: ({ value }, key) => 2 * (key.length + value.length) + 1,
  });
  const counters = createExpiringMap<number>(now);
  const locks = createExpiringMap<symbol>(now);
  let isClosed = false;

  function refuseIfClosed(): void {
    if (isClosed) throw new StoreError('closed');
  }

  function expiryFrom(expiry: Expiry): number {
    return now() + readExpiry(expiry);
  }

  function lockHeldBy(key: string, holder: symbol): Lock {
    const isHeld = () => locks.get(key)?.value === holder;
    return {
      async release() {
        if (isHeld()) locks.delete(key);
      },
      async extend(expiry) {
        refuseIfClosed();
        const expiresAt = expiryFrom(expiry);
        if (!isHeld()) return false;
        locks.set(key, { value: holder, expiresAt });
        return true;
      },
    };
  }

  return {
    async get(key) {
      refuseIfClosed();
      const entry = values.get(checkKey(key));
      if (entry === undefined) return null;
      if (entry.expiresAt > now()) return entry.value;
      values.delete(key);
      return null;
    },
    async set(key, value, expiry) {
      refuseIfClosed();
      values.set(checkKey(key), { value, expiresAt: expiryFrom(expiry) });
    },
    async add(key, amount, expiry) {
      refuseIfClosed();
      const firstExpiry = expiryFrom(expiry);
      const { value, expiresAt } = counters.get(checkKey(key)) ?? { value: 0, expiresAt: firstExpiry };
      const sum = value + checkAmount(amount);
      if (amount !== 0) counters.set(key, { value: sum, expiresAt });
      return sum;
    },
    async lock(key, expiry) {
      refuseIfClosed();
      const expiresAt = expiryFrom(expiry);
      if (locks.get(checkKey(key))) return null;
      const holder = Symbol();
      locks.set(key, { value: holder, expiresAt });
      return lockHeldBy(key, holder);
    },
    async close() {
      isClosed = true;
      values.clear();
      counters.clear();
      locks.clear();
    },
  };
}
