import { AbortableSignal, type Signal } from './signal.ts';

/** A task whose result several callers wait for. */
export interface SharedTask<T> {
  /** Waits for the result; rejects with the signal's reason as soon as this caller aborts. */
  join(signal: Signal): Promise<T>;
  hasWaiters(): boolean;
  /** Whether all callers aborted before the task called `commit`. */
  isAborted(): boolean;
  /** Whether it is committed or aborted: callers no longer influence the task. */
  isDetached(): boolean;
  /** Resolves when the task has settled. */
  readonly settled: Promise<void>;
}

/**
 * Starts a task that may outlive the callers waiting for it. When all callers have aborted, the task's signal aborts as
 * well, unless the task has called `commit`: from then on it always runs to its end.
 */
export function startSharedTask<T>(run: (signal: Signal, commit: () => void) => Promise<T>): SharedTask<T> {
  const taskSignal = new AbortableSignal();
  let waiters = 0;
  let isCommitted = false;
  const result = run(taskSignal, () => {
    isCommitted = true;
  });
  // Also without waiters, a rejection is handled.
  const settled = result.then(ignore, ignore);

  return {
    join: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        waiters += 1;
        const onAbort = () => {
          waiters -= 1;
          if (waiters === 0 && !isCommitted) taskSignal.abort(signal.reason);
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort);
        result.then(
          (value) => {
            signal.removeEventListener('abort', onAbort);
            resolve(value);
          },
          (error) => {
            signal.removeEventListener('abort', onAbort);
            reject(error);
          },
        );
      }),
    hasWaiters: () => waiters > 0,
    isAborted: () => taskSignal.aborted,
    isDetached: () => isCommitted || taskSignal.aborted,
    settled,
  };
}

function ignore(): void {}
