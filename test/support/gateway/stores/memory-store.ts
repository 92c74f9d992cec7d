import {
  addToCounter,
  type Counter,
  checkAmount,
  checkCounter,
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

  const add: Store['add'] = async (key, amount, { known = null, ...expiry }) => {
    const first = { value: null, expiresAt: expiryFrom(expiry) };
    const { value: before, expiresAt } = counters.get(checkOpen(key)) ?? first;
    checkAmount(amount);
    if (amount === 0 && !isLost(before, known)) return { sum: 0, id: '', ...before, restored: 0 };
    const { sum, id, restored } = addToCounter(before, amount, known);
    counters.set(key, { sum, id, restored }, expiresAt);
    return { sum, id, restored: restored - (before?.restored ?? 0) };
  };

  return {
    get: async (key) => values.get(checkOpen(key))?.value ?? null,
    set: async (key, value, expiry) => values.set(checkOpen(key), value, expiryFrom(expiry)),
    async replace(key, seen, next, { also = [], ...expiry }) {
      const expiresAt = expiryFrom(expiry);
      for (const each of also) checkOpen(each.key);
      if ((values.get(checkOpen(key))?.value ?? null) !== seen) return false;
      for (const { key: name, value } of [{ key, value: next }, ...also])
        if (value === null) values.delete(name);
        else values.set(name, value, expiresAt);
      return true;
    },
    async delete(key) {
      values.delete(checkOpen(key));
    },
    add,
    async addAll(amounts) {
      for (const each of amounts) checkCounter(each);
      const counts = await Promise.all(
        amounts.map(({ key, amount, expiresInMs }) => add(key, amount, { expiresInMs })),
      );
      return counts.map(({ sum }) => sum);
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

/** A store that can be made to fail, like that of a process that crashed or lost its Redis. */
export function tFailingStore(store: Store) {
  let isFailing = false;
  const unlessFailing = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isFailing) throw new StoreError('not connected');
    return call();
  };
  const failing: Store = {
    get: (key) => unlessFailing(() => store.get(key)),
    set: (key, value, expiry) => unlessFailing(() => store.set(key, value, expiry)),
    replace: (...args) => unlessFailing(() => store.replace(...args)),
    delete: (key) => unlessFailing(() => store.delete(key)),
    add: (key, amount, expiry) => unlessFailing(() => store.add(key, amount, expiry)),
    addAll: (amounts) => unlessFailing(() => store.addAll(amounts)),
    close: () => store.close(),
  };
  return {
    store: failing,
    fail() {
      isFailing = true;
    },
    work() {
      isFailing = false;
    },
  };
}
