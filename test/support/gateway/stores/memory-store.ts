import {
  addToCounter,
  type Counter,
  checkAmount,
  checkExpiry,
  checkKey,
  type Expiry,
  isLost,
  type Store,
  StoreError,
} from '../../../../src/gateway/stores/store.ts';

/** A store in memory. `clear` removes everything, like FLUSHALL or a restart of Redis without persistence. */
export function createMemoryStore(): Store & { clear(): void } {
  const values = createExpiringMap<string>();
  const counters = createExpiringMap<Counter>();
  let isClosed = false;
  const checkOpen = (key: string) => {
    if (isClosed) throw new StoreError('closed');
    return checkKey(key);
  };

  return {
    get: async (key) => values.get(checkOpen(key))?.value ?? null,
    set: async (key, value, expiry) => values.set(checkOpen(key), value, expiryFrom(expiry)),
    async replace(key, seen, next, expiry) {
      const expiresAt = expiryFrom(expiry);
      if ((values.get(checkOpen(key))?.value ?? null) !== seen) return false;
      if (next === null) values.delete(key);
      else values.set(key, next, expiresAt);
      return true;
    },
    async delete(key) {
      values.delete(checkOpen(key));
    },
    async add(key, amount, { known = null, ...expiry }) {
      const first = { value: null, expiresAt: expiryFrom(expiry) };
      const { value: before, expiresAt } = counters.get(checkOpen(key)) ?? first;
      checkAmount(amount);
      if (amount === 0 && !isLost(before, known)) return { sum: 0, id: '', ...before, restored: 0 };
      const { sum, id, restored } = addToCounter(before, amount, known);
      counters.set(key, { sum, id, restored }, expiresAt);
      return { sum, id, restored: restored - (before?.restored ?? 0) };
    },
    async close() {
      isClosed = true;
    },
    clear() {
      for (const map of [values, counters]) map.clear();
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
