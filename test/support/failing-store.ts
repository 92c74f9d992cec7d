import type { Store } from '../../src/gateway/stores/store.ts';
import { StoreError } from '../../src/gateway/stores/store.ts';

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
