interface BlockOptions {
  /** The largest size that is allowed now. */
  maxSize: () => number;
  /** Called when a write should fill the block. */
  onLow: () => void;
  /** Called when no call was taken for a second: other processes may need the unused ones. */
  onIdle: () => void;
}

/**
 * Calls that are counted in the store before they are made, so that they wait for no write: the calls of half a second, at
 * most 10,000. A crash leaves the count ahead by at most that many.
 */
export function createBlock({ maxSize, onLow, onIdle }: BlockOptions) {
  /** Calls since a time, by `performance.now()`: about the last second. */
  let calls = 0;
  let since = performance.now();
  let size = 0;
  let unused = 0;
  let isFetching = false;
  let isIdle = false;
  let idleTimer: NodeJS.Timeout | undefined;

  return {
    /** Counted calls that were not made yet. */
    unused: () => unused,
    /** Uses one of them. @returns false if there is none */
    take(): boolean {
      if (unused === 0) return false;
      unused -= 1;
      isIdle = false;
      calls += 1;
      if (isLow() && !isFetching) requestMore();
      return true;
    },
    /** Returns an unsent call. @returns false if the block is already full */
    putBack(): boolean {
      if (unused >= size) return false;
      unused += 1;
      return true;
    },
    /** How many calls the next write counts ahead of time. @param waiting calls that wait for that write */
    planWrite(waiting: number): number {
      calls += waiting;
      if (waiting > 0) resize();
      else if (!isFetching) return 0;
      isFetching = true;
      return Math.max(0, size - unused);
    },
    /** Adds calls that the store has counted. */
    add(added: number): void {
      isFetching = false;
      unused += added;
      if (unused > 0) watchIdle();
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

  function requestMore(): void {
    resize();
    isFetching = isLow();
    if (isFetching) onLow();
  }

  function resize(): void {
    const now = performance.now();
    const perSecond = (calls * rateWindowMs) / Math.max(rateWindowMs, now - since);
    if (now - since > rateWindowMs) {
      // Half of a window remains, so that the rate does not begin at 0 again.
      since = now - rateWindowMs / 2;
      calls = perSecond / 2;
    }
    size = perSecond < minPerSecond ? 0 : Math.max(0, Math.min(Math.floor(perSecond * sizeS), largestSize, maxSize()));
  }

  function watchIdle(): void {
    if (idleTimer) return;
    isIdle = true;
    idleTimer = setTimeout(() => {
      idleTimer = undefined;
      if (unused === 0) return;
      if (isIdle) onIdle();
      else watchIdle();
    }, idleMs).unref();
  }
}

/** With fewer, each call waits for a write, and the count is exact. */
const minPerSecond = 10;
/** With a tenth of a second, there would be 10 disk flushes per second at low traffic. */
const sizeS = 0.5;
/** With 1,000, a gateway under full load would flush the disk 27 times per second. */
const largestSize = 10_000;
const idleMs = 1_000;
const rateWindowMs = 1_000;
