import { setMaxListeners } from 'node:events';

/** A task whose result several callers wait for. */
export interface SharedTask<T> {
  /** Waits for the result; rejects with the signal's reason as soon as this caller leaves. */
  join(signal: AbortSignal): Promise<T>;
  hasWaiters(): boolean;
  /** The last caller left before the task was committed. */
  isAborted(): boolean;
  /** Committed or aborted: it ends by itself, whether or not a caller waits. */
  isDetached(): boolean;
  /** Resolves when the task has settled. */
  settled: Promise<void>;
}

/**
 * Starts a task that may outlive the callers waiting for it. When the last one leaves, its signal aborts, unless the
 * task has called `commit`: from then on it always runs to its end.
 */
export function startSharedTask<T>(run: (signal: AbortSignal, commit: () => void) => Promise<T>): SharedTask<T> {
  const controller = new AbortController();
  // Each retry and each store operation of a task may listen.
  setMaxListeners(0, controller.signal);
  let waiters = 0;
  let isCommitted = false;
  const result = run(controller.signal, () => {
    isCommitted = true;
  });
  const ignore = () => {};

  return {
    join: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        waiters += 1;
        const leave = () => {
          waiters -= 1;
          if (waiters === 0 && !isCommitted) controller.abort(signal.reason);
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        const stay = () => signal.removeEventListener('abort', leave);
        result.then(
          (value) => {
            stay();
            resolve(value);
          },
          (error) => {
            stay();
            reject(error);
          },
        );
      }),
    hasWaiters: () => waiters > 0,
    isAborted: () => controller.signal.aborted,
    isDetached: () => isCommitted || controller.signal.aborted,
    settled: result.then(ignore, ignore),
  };
}
