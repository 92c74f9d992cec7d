import { checkAmount, checkExpiry, checkKey, type Expiry, type Store, StoreError } from '../../../src/stores/store.ts';

/** A store in memory. `clear` removes everything, like FLUSHALL or a restart of Redis without persistence. */
export function createMemoryStore(): Store & { clear(): void } {
  const values = createExpiringMap<string>();
  const counters = createExpiringMap<number>();
  const locks = createExpiringMap<symbol>();
  let isClosed = false;
  const checkOpen = () => {
    if (isClosed) throw new StoreError('closed');
  };

  return {
    async get(key) {
      checkOpen();
      return values.get(checkKey(key))?.value ?? null;
    },
    async set(key, value, expiry) {
      checkOpen();
      values.set(checkKey(key), value, expiryFrom(expiry));
    },
    async setIfAbsent(key, value, expiry) {
      checkOpen();
      const expiresAt = expiryFrom(expiry);
      const stored = values.get(checkKey(key));
      if (!stored) values.set(key, value, expiresAt);
      return stored?.value ?? null;
    },
    async add(key, amount, expiry) {
      checkOpen();
      const firstExpiry = expiryFrom(expiry);
      const { value, expiresAt } = counters.get(checkKey(key)) ?? { value: 0, expiresAt: firstExpiry };
      const sum = value + checkAmount(amount);
      if (amount !== 0) counters.set(key, sum, expiresAt);
      return sum;
    },
    async lock(key, expiry) {
      checkOpen();
      const expiresAt = expiryFrom(expiry);
      if (locks.get(checkKey(key))) return null;
      const holder = Symbol();
      locks.set(key, holder, expiresAt);
      const isHeld = () => locks.get(key)?.value === holder;
      return {
        async release() {
          if (isHeld()) locks.delete(key);
        },
        async extend(expiry) {
          checkOpen();
          if (isHeld()) locks.set(key, holder, expiryFrom(expiry));
          return isHeld();
        },
      };
    },
    async close() {
      isClosed = true;
    },
    clear() {
      for (const map of [values, counters, locks]) map.clear();
    },
  };
}

function createExpiringMap<T>() {
  const entries = new Map<string, { value: T; expiresAt: number }>();
  return {
    get(key: string) {
      const entry = entries.get(key);
      return entry && entry.expiresAt > Date.now() ? entry : undefined;
    },
    set: (key: string, value: T, expiresAt: number) => void entries.set(key, { value, expiresAt }),
    delete: (key: string) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}

function expiryFrom(expiry: Expiry): number {
  return Date.now() + checkExpiry(expiry);
}
