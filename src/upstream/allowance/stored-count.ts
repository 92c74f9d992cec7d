import { type Store, StoreError } from '../../stores/store.ts';

/** A counter in a store that continues in memory while the store fails. None of its functions rejects. */
export interface StoredCount {
  /** Adds one and waits until it is stored, or the store has failed. @returns its number, from 1 */
  add(): Promise<number>;
  /** Subtracts one without waiting. A crash before it is stored leaves the count too high, never too low. */
  subtract(): void;
  /** The count, as far as this process knows it; while a shared store fails, with the assumed calls of the others. */
  current(): number;
  /** Stores the calls counted here. @returns the count across all processes */
  sync(): Promise<number>;
  /** Stops reading the count of the others, until the next call. */
  stop(): void;
}

interface StoredCountOptions {
  store: Store;
  key: string;
  expiresInMs: number;
  /** Number of processes that share the store; null: it is not shared. */
  replicas: number | null;
  /** The count until the store was read for the first time. */
  assumed: number;
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
  replicas,
  assumed,
  onStoreFailed,
  onStoreRecovered,
}: StoredCountOptions): StoredCount {
  /** The last sum that the store returned. */
  let stored = assumed;
  /** Decrements and failed increments that the next write includes. */
  let unsaved = 0;
  let inFlight = 0;
  let isStoreUp = false;
  /** Calls of the others per call of this process: while the store fails, each uses an equal share of what was left. */
  let assumedPerCall = 0;
  let timer: NodeJS.Timeout | undefined;
  let waiting: ((number: number) => void)[] = [];
  let lastWrite = Promise.resolve();
  let nextWrite: Promise<void> | null = null;

  return {
    add: () =>
      new Promise((resolve) => {
        refreshRegularly();
        waiting.push(resolve);
        void save();
      }),
    subtract() {
      unsaved -= 1;
      void save();
    },
    current,
    sync: () => save().then(current),
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };

  function current(): number {
    return countWith(unsaved + inFlight + waiting.length);
  }

  function countWith(own: number): number {
    return stored + own + assumedPerCall * Math.max(0, own);
  }

  /** So that the count is recent when the store fails, also if only the others make calls. */
  function refreshRegularly(): void {
    if (replicas !== null && replicas > 1) timer ??= setInterval(() => void save(), refreshMs).unref();
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
      const countedElsewhere = sum - countWith(inFlight);
      stored = sum;
      inFlight = 0;
      assumedPerCall = 0;
      if (!isStoreUp) onStoreRecovered(countedElsewhere);
      isStoreUp = true;
    } catch (error) {
      // The store may have added it nevertheless: then it is added twice, and the count is too high, never too low.
      unsaved += inFlight;
      inFlight = 0;
      isStoreUp = false;
      assumedPerCall = (replicas ?? 1) - 1;
      onStoreFailed(error instanceof StoreError ? error.reason : 'unusable');
    }
    const own = unsaved - batch.length;
    for (const [index, resolve] of batch.entries()) resolve(countWith(own + index + 1));
  }
}

const refreshMs = 5_000;
