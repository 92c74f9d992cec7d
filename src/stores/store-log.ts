import { erase, type Store } from './store.ts';

export type StoreLog = ReturnType<typeof createStoreLog>;

/**
 * A list in a store that only grows at its end. Entries are numbered from 1; a removed or expired one is missing. Its functions
 * reject with a StoreError.
 * @param name hashed by the caller if it is personal @param expiresInMs the expiry of entries
 */
export function createStoreLog(store: Store, name: string, expiresInMs: number) {
  const toKey = (number: number) => `${name}:${number}`;

  return {
    /** @returns the number of the entry */
    async append(value: string): Promise<number> {
      const { sum: number } = await store.add(name, 1, counterExpiry);
      await store.set(toKey(number), value, { expiresInMs });
      return number;
    },
    /** Number of the last entry; 0: there was none. */
    last: async () => (await store.add(name, 0, counterExpiry)).sum,
    /** The entries from one number to a higher one, both included; the value of a missing one is null. */
    async read(from: number, to: number) {
      const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
      return Promise.all(numbers.map(async (number) => ({ number, value: (await store.get(toKey(number))) || null })));
    },
    remove: (number: number) => erase(store, toKey(number)),
  };
}

/** A century: numbers are never used again. */
const counterExpiry = { expiresInMs: 100 * 365 * 86_400_000 };
