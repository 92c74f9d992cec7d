import { vi } from 'vitest';

/** Stops `Date` and the monotonic clock until the test ends. @returns a function that advances both */
export function tFakeDate(): (ms: number) => Promise<void> {
  vi.useFakeTimers({ toFake: ['Date', 'hrtime'] });
  return async (ms) => void vi.advanceTimersByTime(ms);
}
