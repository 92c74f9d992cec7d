import { expect, it, vi } from 'vitest';
import { watchClock } from '../../../src/gateway/telemetry/telemetry.ts';

it.each([
  ['three days ahead', 3 * 86_400_000, [259_200]],
  ['a month back', -30 * 86_400_000, [-2_592_000]],
  ['a minute and a second ahead', 61_000, [61]],
  ['59 s ahead', 59_000, []],
])('a clock that was set %s is reported once, if it is more than a minute', (_, stepMs, reported) => {
  vi.useFakeTimers({ now: new Date('2026-11-28T12:00:00Z') });
  const steps: number[] = [];
  const stop = watchClock({ clockStepped: (seconds) => steps.push(seconds) });
  vi.advanceTimersByTime(30_000);
  expect(steps).toEqual([]);
  vi.setSystemTime(Date.now() + stepMs);
  vi.advanceTimersByTime(30_000);
  expect(steps).toEqual(reported);
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
