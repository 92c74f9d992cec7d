import { erase, type Store } from './store.ts';

/** A list in a store that only grows at its end. Entries are numbered from 1; a removed or expired one is missing. */
export interface StoreLog {
  /** @returns the number of the entry @throws StoreError */
  append(value: string): Promise<number>;
  /** Number of the last entry; 0: there was none. @throws StoreError */
  last(): Promise<number>;
  /** The entries from one number to a higher one, both included. @throws StoreError */
  read(from: number, to: number): Promise<LogEntry[]>;
  /** @throws StoreError */
  remove(number: number): Promise<void>;
}

interface LogEntry {
  number: number;
  /** Null if it is missing. */
  value: string | null;
}

/** @param name hashed by the caller if it is personal @param expiresInMs the expiry of entries */
export function createStoreLog(store: Store, name: string, expiresInMs: number): StoreLog {
  const toKey = (number: number) => `${name}:${number}`;

  return {
    async append(value) {
      const { sum: number } = await store.add(name, 1, counterExpiry);
      await store.set(toKey(number), value, { expiresInMs });
      return number;
    },
    last: async () => (await store.add(name, 0, counterExpiry)).sum,
    async read(from, to) {
      const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
      return Promise.all(numbers.map(async (number) => ({ number, value: (await store.get(toKey(number))) || null })));
    },
    remove: (number) => erase(store, toKey(number)),
  };
}

/** A century: numbers are never used again. */
const counterExpiry = { expiresInMs: 100 * 365 * 86_400_000 };
