import { expect, it } from 'vitest';
import { pauseAfter } from '../../src/process/workers.ts';

/** The pauses before workers are started, of which each has ended after this time in seconds. */
function pausesAfter(...uptimes: number[]): number[] {
  let pauseMs = 0;
  return uptimes.map((uptime) => {
    pauseMs = pauseAfter(uptime * 1_000, pauseMs);
    return pauseMs / 1_000;
  });
}

it('replaces a worker at once if it ran for 10 s or longer', () => {
  expect(pausesAfter(10, 3_600)).toEqual([0, 0]);
});

it('replaces workers that keep ending soon after their start after longer and longer pauses, up to 30 s', () => {
  expect(pausesAfter(0.1, 9.9, 1, 1, 1, 1, 1)).toEqual([1, 2, 4, 8, 16, 30, 30]);
  expect(pausesAfter(1, 1, 60, 1)).toEqual([1, 2, 0, 1]);
});
