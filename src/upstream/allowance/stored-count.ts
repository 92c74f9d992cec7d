import { type Store, StoreError } from '../../stores/store.ts';

/** A counter in a store that continues in memory while the store fails. None of its functions rejects. */
export interface StoredCount {
  /** Adds one and waits until it is stored, or the store has failed. @returns its number, from 1 */
  add(): Promise<number>;
  /** Subtracts one without waiting. A crash before it is stored leaves the count too high, never too low. */
  subtract(): void;
  /** The count, as far as this process knows it. */
  current(): number;
  /** Stores the calls counted here. @returns the count across all processes */
  sync(): Promise<number>;
}

interface StoredCountOptions {
  store: Store;
  key: string;
  expiresInMs: number;
  onStoreFailed: (reason: string) => void;
  /** Called when a write succeeds for the first time or after failures. `countedElsewhere`: by other processes. */
  onStoreRecovered: (countedElsewhere: number) => void;
}

/**
 * One write is in flight at a time, and everything counted meanwhile goes into the next: a durable write costs a disk
 * flush or a round trip to Redis, and under load all callers share it.
 */
export function createStoredCount({
  store,
  key,
  expiresInMs,
  onStoreFailed,
  onStoreRecovered,
}: StoredCountOptions): StoredCount {
  /** The last sum that the store returned. */
  let stored = 0;
  /** Decrements and failed increments that the next write includes. */
  let unsaved = 0;
  let inFlight = 0;
  let isStoreUp = false;
  let waiting: ((number: number) => void)[] = [];
  let lastWrite = Promise.resolve();
  let nextWrite: Promise<void> | null = null;

  return {
    add: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        void save();
      }),
    subtract() {
      unsaved -= 1;
      void save();
    },
    current,
    sync: () => save().then(current),
  };

  function current(): number {
    return stored + unsaved + inFlight + waiting.length;
  }

  function save(): Promise<void> {
    if (nextWrite) return nextWrite;
    nextWrite = lastWrite.then(write);
    lastWrite = nextWrite;
    return nextWrite;
  }

  async function write(): Promise<void> {
    nextWrite = null;
    const batch = waiting;
    waiting = [];
    inFlight = unsaved + batch.length;
    unsaved = 0;
    try {
      const sum = await store.add(key, inFlight, { expiresInMs });
      const countedElsewhere = sum - stored - inFlight;
      stored = sum;
      inFlight = 0;
      if (!isStoreUp) onStoreRecovered(countedElsewhere);
      isStoreUp = true;
    } catch (error) {
      // The store may have added it nevertheless: then it is added twice, and the count is too high, never too low.
      unsaved += inFlight;
      inFlight = 0;
      isStoreUp = false;
      onStoreFailed(error instanceof StoreError ? error.reason : 'unusable');
    }
    const last = current() - waiting.length;
    for (const [index, resolve] of batch.entries()) resolve(last - batch.length + index + 1);
  }
}
