export interface CallRate {
  record(): void;
  /** Calls per second, over about the last second. */
  perSecond(): number;
}

export function createCallRate(): CallRate {
  let since = performance.now();
  let calls = 0;
  return {
    record() {
      calls += 1;
    },
    perSecond() {
      const now = performance.now();
      const rate = (calls * windowMs) / Math.max(windowMs, now - since);
      if (now - since > windowMs) {
        // Half of a window remains, so that the rate does not begin at 0 again.
        since = now - windowMs / 2;
        calls = rate / 2;
      }
      return rate;
    },
  };
}

const windowMs = 1_000;
