import { setImmediate } from 'node:timers/promises';

/** Begins pieces of work one after the other, and lets other requests run after a few milliseconds of them. */
export function createTimeSlices(maxMs: number): <Result>(run: () => Result | Promise<Result>) => Promise<Result> {
  let last: Promise<void> = Promise.resolve();
  let beganAt = 0;

  return (run) => {
    last = last.then(waitForSlice);
    return last.then(run);
  };

  async function waitForSlice(): Promise<void> {
    if (performance.now() - beganAt <= maxMs) return;
    await setImmediate();
    beganAt = performance.now();
  }
}
