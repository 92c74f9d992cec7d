import { setImmediate } from 'node:timers/promises';

/** Runs pieces of work one after the other, and lets other requests run after a few milliseconds of them. */
export function createTimeSlices(maxMs: number): <Result>(run: () => Result) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  let sliceBeganAt = 0;

  return (run) => {
    const result = last.then(async () => {
      if (performance.now() - sliceBeganAt > maxMs) {
        await setImmediate();
        sliceBeganAt = performance.now();
      }
      return run();
    });
    last = result.catch(() => {});
    return result;
  };
}
