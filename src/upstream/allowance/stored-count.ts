import { type Store, StoreError } from '../../stores/store.ts';
import { createCallRate } from './call-rate.ts';

/** A counter in a store that continues in memory while the store fails. None of its functions rejects. */
export interface StoredCount {
  /** Counts a call that the store counted ahead of time. @returns its number, or null if there is none */
  take(): number | null;
  /** Adds one and waits until it is stored, or the store has failed. @returns its number, from 1 */
  add(): Promise<number>;
  /** Subtracts one without waiting. A crash before it is stored leaves the count too high, never too low. */
  subtract(): void;
  /** The count, as far as this process knows it; while a shared store fails, with the assumed calls of the others. */
  current(): number;
  /** Stores the calls counted here. @returns the count across all processes, with the blocks of the others */
  sync(): Promise<number>;
  /** Returns the unused rest of the block, and stops reading the count of the others until the next call. */
  stop(): Promise<void>;
}

interface StoredCountOptions {
  store: Store;
  key: string;
  expiresInMs: number;
  /** Number of processes that share the store; null: it is not shared. */
  replicas: number | null;
  /** The count until the store was read for the first time. */
  assumed: number;
  /** Limit for the calls that are counted ahead of time; 0 near the end of an allowance, so that it is exact. */
  maxBlock: () => number;
  onStoreFailed: (reason: string) => void;
  /** Called when a write succeeds for the first time or after failures. `countedElsewhere`: by other processes. */
  onStoreRecovered: (countedElsewhere: number) => void;
}

/**
 * A durable write costs a disk flush or a round trip to Redis. One write is in flight at a time, and all callers who
 * wait meanwhile share the next. Under load, a write also counts a block of calls ahead of time, which then wait for no
 * write; the next block is fetched when a quarter of it is left.
 */
export function createStoredCount(options: StoredCountOptions): StoredCount {
  const { store, key, expiresInMs, replicas, assumed, maxBlock, onStoreFailed, onStoreRecovered } = options;
  /** The last sum that the store returned. */
  let stored = assumed;
  /** Size of the block, and the calls of it that were not made yet. `stored` includes them. */
  let block = 0;
  let unused = 0;
  let isFetching = false;
  /** Decrements and failed increments that the next write includes. */
  let unsaved = 0;
  let inFlight = 0;
  let isWriting = false;
  let isStoreUp = false;
  /** Calls of the others per call of this process: while the store fails, each uses an equal share of what was left. */
  let assumedPerCall = 0;
  let refreshTimer: NodeJS.Timeout | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let isIdle = false;
  let waiting: ((number: number) => void)[] = [];
  let lastWrite = Promise.resolve();
  let nextWrite: Promise<void> | null = null;
  const rate = createCallRate();

  return {
    take() {
      if (unused === 0) return null;
      unused -= 1;
      isIdle = false;
      rate.record();
      if (4 * unused < block && !isWriting && nextWrite === null) fetchBlock();
      return current();
    },
    add: () =>
      new Promise((resolve) => {
        if (replicas !== null && replicas > 1) refreshTimer ??= setInterval(() => void save(), refreshMs).unref();
        rate.record();
        waiting.push(resolve);
        void save();
      }),
    subtract() {
      if (unused < block) unused += 1;
      else {
        unsaved -= 1;
        void save();
      }
    },
    current,
    sync: () => save().then(current),
    async stop() {
      clearInterval(refreshTimer);
      refreshTimer = undefined;
      do await returnBlock();
      while (unused > 0);
      clearTimeout(idleTimer);
      idleTimer = undefined;
    },
  };

  function current(): number {
    return countWith(unsaved + inFlight + waiting.length) - unused;
  }

  function countWith(own: number): number {
    return stored + own + assumedPerCall * Math.max(0, own);
  }

  function fetchBlock(): void {
    resizeBlock();
    isFetching = 4 * unused < block;
    if (isFetching) void save();
  }

  /** A tenth of the calls of a second: a crash leaves the count ahead by at most that many. */
  function resizeBlock(): void {
    block = isStoreUp ? Math.max(0, Math.min(Math.floor(rate.perSecond() / 10), maxBlockSize, maxBlock())) : 0;
  }

  /** Other processes may need it. */
  function returnBlock(): Promise<void> {
    block = 0;
    unsaved -= unused;
    unused = 0;
    return save();
  }

  function returnIdleBlock(): void {
    idleTimer = undefined;
    if (isIdle && unused > 0) void returnBlock();
    else watchBlock();
  }

  function watchBlock(): void {
    if (unused === 0 || idleTimer) return;
    isIdle = true;
    idleTimer = setTimeout(returnIdleBlock, idleMs).unref();
  }

  function save(): Promise<void> {
    if (nextWrite) return nextWrite;
    nextWrite = lastWrite.then(write);
    lastWrite = nextWrite;
    return nextWrite;
  }

  async function write(): Promise<void> {
    nextWrite = null;
    isWriting = true;
    const batch = waiting;
    waiting = [];
    inFlight = unsaved + batch.length;
    unsaved = 0;
    if (batch.length > 0) resizeBlock();
    const ahead = batch.length > 0 || isFetching ? Math.max(0, block - unused) : 0;
    isFetching = false;
    try {
      const sum = await store.add(key, inFlight + ahead, { expiresInMs });
      const countedElsewhere = sum - ahead - countWith(inFlight);
      stored = sum;
      unused += ahead;
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
    isWriting = false;
    watchBlock();
    const own = unsaved - batch.length;
    for (const [index, resolve] of batch.entries()) resolve(countWith(own + index + 1) - unused);
  }
}

const refreshMs = 5_000;
const maxBlockSize = 500;
/** A block of which nothing was used for so long is returned. */
const idleMs = 1_000;
