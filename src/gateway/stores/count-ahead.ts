import type { Replicas } from './gateway-count.ts';
import { type KnownCount, type Store, StoreError } from './store.ts';

export interface CountAheadOptions {
  store: Pick<Store, 'add'>;
  key: string;
  expiresInMs: number;
  replicas: Replicas;
  /** What the store adds for a call; 1 unless stated. A count that has earlier units is rounded up. */
  unit?: number | undefined;
  /** How many calls are counted ahead of time; 0 near a limit, so that it is exact. @param perSecond the calls of a second */
  blockSize: (perSecond: number) => number;
  /** Whether the unused rest of a block is returned after a second, and the count of other processes read until `stop`. */
  isLasting?: boolean;
  onStoreFailed: (reason: string) => void;
  /** Called when a write succeeds for the first time or after failures. `countedElsewhere`: by other processes. */
  onStoreRecovered?: (countedElsewhere: number) => void;
  /** Called when this process has added calls back to a count that went backwards: the store has lost data. */
  onRestored?: (calls: number) => void;
}

/**
 * A counter in a store that continues in memory while the store fails, and from what the processes know after the store has
 * lost it. None of its functions rejects.
 *
 * A durable write costs a disk flush or a round trip to Redis. One write is in flight at a time, and all callers who
 * wait meanwhile share the next. Under load, a write also counts a block of calls ahead of time, which then wait for no
 * write; the next block is fetched when a quarter of it is left.
 */
export function createCountAhead(options: CountAheadOptions) {
  const { store, key, expiresInMs, replicas, blockSize, isLasting = true, unit = 1 } = options;
  const { onStoreFailed, onStoreRecovered, onRestored } = options;
  /** What the store returned last: it is added back if the store loses it. */
  let known: KnownCount | null = null;
  /** Its sum. */
  let stored = 0;
  /** Decrements and failed increments that the next write includes. */
  let unsaved = 0;
  let inFlight = 0;
  let isStoreUp = false;
  /** Calls of other processes per own call: while the store fails, each process uses an equal share of what was left. */
  let assumedPerCall = 0;
  let refreshTimer: NodeJS.Timeout | undefined;
  let waiting: ((number: number) => void)[] = [];
  let lastWrite = Promise.resolve();
  let nextWrite: Promise<void> | null = null;
  /** `stored` includes its calls. */
  const block = createBlock({
    sizeFor: blockSize,
    onLow: () => void save(),
    onIdle: isLasting ? () => void returnBlock() : null,
  });

  return {
    /** Counts a call that the store counted ahead of time. @returns its number, or null if there is none */
    take: () => (block.take() ? current() : null),
    /** Adds one and waits until it is stored, or the store has failed. @returns its number, from 1 */
    add: () =>
      new Promise<number>((resolve) => {
        if (isLasting && replicas !== null) refreshTimer ??= setInterval(refresh, refreshMs).unref();
        waiting.push(resolve);
        void save();
      }),
    /** Subtracts one without waiting. A crash before it is stored leaves the count too high, never too low. */
    subtract(): void {
      if (block.putBack()) return;
      unsaved -= 1;
      void save();
    },
    current,
    /** Whether the store was ever read: until then, only the calls of this process are known. */
    isRead: () => known !== null,
    /** Whether the last write succeeded, so that the calls of all processes are known. */
    isStored: () => isStoreUp,
    /** Stores the calls counted here. @returns the count across all processes, with the blocks of other processes */
    sync: () => save().then(() => current()),
    /** Returns the unused rest of the block, and stops reading the count of other processes until the next call. */
    async stop(): Promise<void> {
      clearInterval(refreshTimer);
      refreshTimer = undefined;
      // A write in flight may fill it again.
      do await returnBlock();
      while (block.unused() > 0);
    },
  };

  /** The count, as far as this process knows it; while a shared store fails, with the assumed calls of other processes. */
  function current(own = unsaved + inFlight + waiting.length): number {
    return stored + own + assumedPerCall * Math.max(0, own) - block.unused();
  }

  /** Other gateways may have counted meanwhile. */
  function refresh(): void {
    if (replicas !== null && replicas() > 1) void save();
  }

  function returnBlock(): Promise<void> {
    unsaved -= block.empty();
    return save();
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
    const ahead = block.planWrite(batch.length, isStoreUp);
    try {
      const counted = await store.add(key, (inFlight + ahead) * unit, { expiresInMs, known });
      const sum = Math.ceil(counted.sum / unit);
      const countedElsewhere = sum - ahead - block.unused() - current(inFlight);
      known = counted;
      stored = sum;
      block.add(ahead);
      inFlight = 0;
      assumedPerCall = 0;
      if (!isStoreUp) onStoreRecovered?.(countedElsewhere);
      isStoreUp = true;
      if (counted.restored > 0) onRestored?.(Math.ceil(counted.restored / unit));
    } catch (error) {
      // The store may have added it nevertheless: then it is added twice, and the count is too high, never too low.
      unsaved += inFlight;
      inFlight = 0;
      isStoreUp = false;
      const others = (replicas?.() ?? 1) - 1;
      // Without a share, the limit refuses all calls.
      assumedPerCall = Number.isFinite(others) ? others : 0;
      block.add(0);
      onStoreFailed(error instanceof StoreError ? error.reason : 'unusable');
    }
    // The last call of the batch has the present count as its number.
    const own = unsaved - batch.length;
    for (const [index, resolve] of batch.entries()) resolve(current(own + index + 1));
  }
}

const refreshMs = 5_000;

interface BlockOptions {
  /** For this number of calls in a second. */
  sizeFor: CountAheadOptions['blockSize'];
  /** Called when a write should fill the block. */
  onLow: () => void;
  /** Called when no call was taken for a second: other processes may need the unused ones. Null: they are not returned. */
  onIdle: (() => void) | null;
}

/**
 * Calls that are counted in the store before they are made, so that they wait for no write. A crash leaves the count ahead by at
 * most a block.
 */
function createBlock({ sizeFor, onLow, onIdle }: BlockOptions) {
  /** Calls since a time, by `performance.now()`: about the last second. */
  let calls = 0;
  let since = performance.now();
  let size = 0;
  let unused = 0;
  let isFetching = false;
  let idleTimer: NodeJS.Timeout | undefined;

  return {
    /** Counted calls that were not made yet. */
    unused: () => unused,
    /** Uses one of them. @returns false if there is none */
    take(): boolean {
      if (unused === 0) return false;
      unused -= 1;
      calls += 1;
      idleTimer?.refresh();
      if (isLow() && !isFetching) {
        resize();
        isFetching = isLow();
        if (isFetching) onLow();
      }
      return true;
    },
    /** Returns an unsent call. @returns false if the block is already full */
    putBack(): boolean {
      if (unused >= size) return false;
      unused += 1;
      return true;
    },
    /** How many calls the next write counts ahead of time. @param waiting calls that wait for that write @param mayFill if not, 0 */
    planWrite(waiting: number, mayFill: boolean): number {
      calls += waiting;
      if (waiting > 0) resize(mayFill);
      else if (!isFetching) return 0;
      isFetching = true;
      return Math.max(0, size - unused);
    },
    /** Adds calls that the store has counted. */
    add(added: number): void {
      isFetching = false;
      unused += added;
      if (unused > 0 && onIdle !== null) idleTimer ??= setTimeout(onIdle, idleMs).unref();
    },
    /** @returns the calls that were not used, which the store must subtract */
    empty(): number {
      const returned = unused;
      clearTimeout(idleTimer);
      idleTimer = undefined;
      size = 0;
      unused = 0;
      return returned;
    },
  };

  function isLow(): boolean {
    return 4 * unused < size;
  }

  function resize(mayFill = true): void {
    const now = performance.now();
    const perSecond = (calls * rateWindowMs) / Math.max(rateWindowMs, now - since);
    if (now - since > rateWindowMs) {
      // Half of a window remains, so that the rate does not begin at 0 again.
      since = now - rateWindowMs / 2;
      calls = perSecond / 2;
    }
    size = mayFill ? Math.max(0, sizeFor(perSecond)) : 0;
  }
}

const idleMs = 1_000;
const rateWindowMs = 1_000;
