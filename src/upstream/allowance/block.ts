import { createCallRate } from './call-rate.ts';

/** Calls that are counted in the store before they are made, so that they wait for no write. */
export interface Block {
  /** Counted calls that were not made yet. */
  unused(): number;
  /** Makes one of them. @returns false if there is none */
  take(): boolean;
  /** Takes back a call that was not sent. @returns false if the block is complete */
  putBack(): boolean;
  /** Records a call that was not of the block: the rate of the calls determines the size. */
  recordCall(): void;
  /** How many calls the next write counts ahead of time. @param isNeeded whether calls wait for that write */
  missing(isNeeded: boolean): number;
  /** Adds calls that the store has counted. */
  add(calls: number): void;
  /** @returns the calls that were not used, which the store must subtract */
  empty(): number;
}

interface BlockOptions {
  /** Limit for the size, at the moment. */
  maxSize: () => number;
  /** Called when a write should fill the block. */
  onLow: () => void;
  /** Called when nothing of the block was used for a second: other processes may need it. */
  onIdle: () => void;
}

/** The calls of half a second, at most 10,000: a crash leaves the count ahead by at most that many. */
export function createBlock({ maxSize, onLow, onIdle }: BlockOptions): Block {
  const rate = createCallRate();
  let size = 0;
  let unused = 0;
  let isFetching = false;
  let isIdle = false;
  let idleTimer: NodeJS.Timeout | undefined;

  return {
    unused: () => unused,
    take() {
      if (unused === 0) return false;
      unused -= 1;
      isIdle = false;
      rate.record();
      if (isLow() && !isFetching) fetch();
      return true;
    },
    putBack() {
      if (unused >= size) return false;
      unused += 1;
      return true;
    },
    recordCall: rate.record,
    missing(isNeeded) {
      if (isNeeded) resize();
      else if (!isFetching) return 0;
      isFetching = true;
      return Math.max(0, size - unused);
    },
    add(calls) {
      isFetching = false;
      unused += calls;
      watch();
    },
    empty() {
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

  function fetch(): void {
    resize();
    isFetching = isLow();
    if (isFetching) onLow();
  }

  function resize(): void {
    const perSecond = rate.perSecond();
    size = perSecond < minPerSecond ? 0 : Math.max(0, Math.min(Math.floor(perSecond * sizeS), largestSize, maxSize()));
  }

  function watch(): void {
    if (unused === 0 || idleTimer) return;
    isIdle = true;
    idleTimer = setTimeout(() => {
      idleTimer = undefined;
      if (isIdle && unused > 0) onIdle();
      else watch();
    }, idleMs).unref();
  }
}

/** With fewer, each call waits for a write, and the count is exact. */
const minPerSecond = 10;
/** With a tenth of a second, there would be 10 disk flushes per second at low traffic. */
const sizeS = 0.5;
/** With 1,000, 20,000 calls per second caused 27 disk flushes per second, which took 3 % of one core. */
const largestSize = 10_000;
const idleMs = 1_000;
