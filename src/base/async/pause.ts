import type { Signal } from './signal.ts';

/** Resolves after `durationMs`; rejects with the signal's reason when it aborts. */
export function pause(durationMs: number, signal: Signal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, durationMs);
    signal.addEventListener('abort', onAbort);
  });
}

/**
 * The answer; undefined if it fails or takes longer. If the process was busy meanwhile, its timers run before it reads what has
 * arrived, so that is read first: a call of a service is dearer than a short wait.
 */
export function answerWithin<T>(
  answer: Promise<T>,
  timeoutMs: number,
  onLate: () => void = () => {},
): Promise<T | undefined> {
  return new Promise((resolve) => {
    let isSettled = false;
    const giveUp = () => resolve(undefined);
    const giveUpIfLate = () => {
      if (!isSettled) onLate();
      giveUp();
    };
    const timer = setTimeout(() => setImmediate(giveUpIfLate), timeoutMs);
    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
    };
    answer.then(resolve, giveUp).finally(settle);
  });
}
