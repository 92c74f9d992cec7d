import { vi } from 'vitest';

/** Stops `Date` until the test ends. @returns a function that advances it */
export function tFakeDate(): (ms: number) => Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'] });
  return async (ms) => void vi.advanceTimersByTime(ms);
}
