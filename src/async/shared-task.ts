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
  settled: Promise<void>;
}

interface Waiter<T> {
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
  /** Stops listening to the caller's signal. */
  release: () => void;
}

/**
 * Starts a task that may outlive the callers waiting for it. When all callers have aborted, the task's signal aborts as
 * well, unless the task has called `commit`: from then on it always runs to its end.
 */
export function startSharedTask<T>(run: (signal: Signal, commit: () => void) => Promise<T>): SharedTask<T> {
  const taskSignal = new AbortableSignal();
  let waiters: Waiter<T>[] = [];
  let isCommitted = false;
  const result = run(taskSignal, () => {
    isCommitted = true;
  });
  let isSettled = false;
  const settled = result.then(
    (value) => {
      isSettled = true;
      for (const { resolve, release } of waiters) {
        release();
        resolve(value);
      }
    },
    (error) => {
      isSettled = true;
      for (const { reject, release } of waiters) {
        release();
        reject(error);
      }
    },
  );

  return {
    join(signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (isSettled) return result;
      return new Promise((resolve, reject) => {
        const waiter = { resolve, reject, release: () => signal.removeEventListener('abort', onAbort) };
        waiters.push(waiter);
        signal.addEventListener('abort', onAbort);

        function onAbort() {
          waiters = waiters.filter((other) => other !== waiter);
          if (waiters.length === 0 && !isCommitted) taskSignal.abort(signal.reason);
          reject(signal.reason);
        }
      });
    },
    hasWaiters: () => waiters.length > 0,
    isAborted: () => taskSignal.aborted,
    isDetached: () => isCommitted || taskSignal.aborted,
    settled,
  };
}
