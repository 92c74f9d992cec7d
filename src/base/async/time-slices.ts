import { setImmediate } from 'node:timers/promises';

/** Begins a piece of work in its turn: what most parts need of `TimeSlices`. */
export type InTimeSlice = <Result>(run: () => Result | Promise<Result>) => Promise<Result>;

export interface TimeSlices extends InTimeSlice {
  /** Whether further work should wait for the next slice. */
  isOver(): boolean;
}

/** Begins pieces of work one after the other, and lets other requests run after a few milliseconds of them. */
export function createTimeSlices(maxMs: number): TimeSlices {
  let last: Promise<void> = Promise.resolve();
  let beganAt = 0;

  const inTimeSlice: InTimeSlice = (run) => {
    last = last.then(waitForSlice);
    return last.then(run);
  };
  return Object.assign(inTimeSlice, { isOver });

  function isOver(): boolean {
    return performance.now() - beganAt > maxMs;
  }

  async function waitForSlice(): Promise<void> {
    if (!isOver()) return;
    await setImmediate();
    beganAt = performance.now();
  }
}
