import { createCheckValue, isCheckValueOf } from './sealed-store.ts';
import { type Store, StoreError } from './store.ts';

/** The name is readable: gateways with another secret must find it, too. */
export const checkKey = 'secret-check';

/** A century: it must not expire before the data that it protects. */
export const checkExpiry = { expiresInMs: 100 * 365 * 86_400_000 };

export interface CheckedStore extends Store {
  /** Checks the secret again, as after a connection to a store that may be another one. @throws StoreError */
  checkSecret(): Promise<void>;
}

/**
 * Makes sure that the store was written with the same secret: with another one, what was paid for would not be found, and
 * would be paid for again. The store has a check value, which only the secret opens. The first write creates it; before it
 * was read, and while it belongs to another secret, nothing else is read or written.
 */
export function withSecretCheck(store: Store, readSecret: () => string): CheckedStore {
  let isChecked = false;

  function check(value: string): void {
    isChecked = isCheckValueOf(readSecret(), value);
    if (!isChecked) throw new StoreError('written with another STORE_SECRET: all gateways need the same');
  }

  async function checkStored(): Promise<void> {
    const value = await store.get(checkKey);
    if (value !== null) check(value);
  }

  async function checkOrCreate(): Promise<void> {
    await checkStored();
    if (isChecked) return;
    const own = createCheckValue(readSecret());
    check((await store.setIfAbsent(checkKey, own, checkExpiry)) ?? own);
  }

  return {
    async get(key) {
      if (!isChecked) await checkStored();
      return store.get(key);
    },
    async set(...args) {
      if (!isChecked) await checkOrCreate();
      return store.set(...args);
    },
    async setIfAbsent(...args) {
      if (!isChecked) await checkOrCreate();
      return store.setIfAbsent(...args);
    },
    async add(key, amount, options) {
      if (!isChecked) await (amount === 0 ? checkStored() : checkOrCreate());
      return store.add(key, amount, options);
    },
    async lock(...args) {
      if (!isChecked) await checkOrCreate();
      return store.lock(...args);
    },
    checkSecret() {
      isChecked = false;
      return checkOrCreate();
    },
    close: () => store.close(),
  };
}
