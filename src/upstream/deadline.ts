import type { Signal } from '../async/signal.ts';

/** The time limit of one operation, combined with the caller's abort signal. Passed to all layers of a client. */
export interface Deadline {
  /** Aborts at the deadline, or with the caller's reason as soon as the caller aborts. */
  signal: AbortSignal;
  /** Milliseconds left; 0 or less after the deadline. */
  leftMs(): number;
  /** Whether it was aborted by the timeout and not by the caller. */
  hasExpired(): boolean;
  /**
   * Restarts the full timeout, once. A write does so when it leaves the queue: an aborted write may be charged without
   * a result.
   */
  restart(): void;
  /** Releases the timer and the listener. Call it when the operation has settled. */
  end(): void;
}

export function startDeadline(timeoutMs: number, caller: Signal): Deadline {
  const controller = new AbortController();
  const expire = () => controller.abort(expired);
  const onAbort = () => controller.abort(caller.reason);
  let endsAt = performance.now() + timeoutMs;
  let timer = setTimeout(expire, timeoutMs);
  let isRestarted = false;
  if (caller.aborted) onAbort();
  else caller.addEventListener('abort', onAbort);

  return {
    signal: controller.signal,
    leftMs: () => endsAt - performance.now(),
    hasExpired: () => controller.signal.reason === expired,
    restart() {
      if (isRestarted || controller.signal.aborted) return;
      isRestarted = true;
      clearTimeout(timer);
      endsAt = performance.now() + timeoutMs;
      timer = setTimeout(expire, timeoutMs);
    },
    end() {
      clearTimeout(timer);
      caller.removeEventListener('abort', onAbort);
    },
  };
}

/** The unique reason that distinguishes the timeout from an abort by the caller. */
const expired = new DOMException('The deadline of the upstream operation has passed.', 'TimeoutError');
