import { setImmediate } from 'node:timers/promises';

/** Begins a piece of work in its turn. */
export type InTimeSlice = <Result>(run: () => Result | Promise<Result>) => Promise<Result>;

/** For a process without other work: begins each piece at once. */
export const runAtOnce: InTimeSlice = async (run) => run();

/** Begins pieces of work one after the other, and lets other requests run after a few milliseconds of them. */
export function createTimeSlices(maxMs: number): InTimeSlice {
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
