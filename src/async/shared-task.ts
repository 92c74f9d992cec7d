import { setMaxListeners } from 'node:events';

/** Work that several callers wait for. */
export interface SharedTask<T> {
  /** Waits for the outcome; rejects at once with the signal's reason when this caller leaves. */
  join(signal: AbortSignal): Promise<T>;
  hasWaiters(): boolean;
  /** Everybody left before the work was bound to its end. */
  isGivenUp(): boolean;
  /** It goes on, or ends, without anybody waiting for it. */
  isOnItsOwn(): boolean;
  /** Settles when the work has. */
  over: Promise<unknown>;
}

/**
 * Starts work that outlives the callers it is done for. Whoever leaves ends only their own waiting; when the last one
 * leaves, the work is told to stop, unless it is bound to its end by then.
 */
export function startSharedTask<T>(
  work: (signal: AbortSignal) => Promise<T>,
  isBound: () => boolean = () => false,
): SharedTask<T> {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  let waiting = 0;
  const result = work(controller.signal);
  // Nobody may be left to hear how it ended.
  const over = result.catch(() => {});

  return {
    join: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        waiting += 1;
        const leave = () => {
          waiting -= 1;
          if (waiting === 0 && !isBound()) controller.abort(signal.reason);
          reject(signal.reason);
        };
        const stay = () => signal.removeEventListener('abort', leave);
        signal.addEventListener('abort', leave, { once: true });
        result.then(stay, stay);
        result.then(resolve, reject);
      }),
    hasWaiters: () => waiting > 0,
    isGivenUp: () => controller.signal.aborted,
    isOnItsOwn: () => isBound() || controller.signal.aborted,
    over,
  };
}
