export interface UsageWarnings {
  /** @param share the used share of the limit, from 0 to 1 */
  check(share: number): void;
}

/** Calls the function once at 80 percent and once at 95 percent. */
export function createUsageWarnings(onNearlyExhausted: (percent: number) => void): UsageWarnings {
  const pending = [...thresholdsPercent];
  return {
    check(share) {
      while (pending[0] !== undefined && share * 100 >= pending[0]) {
        onNearlyExhausted(pending[0]);
        pending.shift();
      }
    },
  };
}

const thresholdsPercent = [80, 95];
