/** The end of one upstream operation: its time is up, or its caller left. Handed down through all layers of a client. */
export interface Deadline {
  /** Aborts at the deadline, or with the caller's reason as soon as the caller leaves. */
  signal: AbortSignal;
  /** Milliseconds left; 0 or less after the deadline. */
  leftMs(): number;
  /** The time is up (and the caller still waits). */
  hasExpired(): boolean;
  /**
   * Starts the full time again, once; further calls do nothing. A write does so when it leaves the queue: one that is
   * cut short may have been charged for nothing.
   */
  restart(): void;
  /** Releases the timer and the listener. To be called when the operation has settled. */
  end(): void;
}

export function startDeadline(timeoutMs: number, caller: AbortSignal): Deadline {
  const controller = new AbortController();
  const expire = () => controller.abort(expired);
  const leave = () => controller.abort(caller.reason);
  let endsAt = performance.now() + timeoutMs;
  let timer = setTimeout(expire, timeoutMs);
  let isRestarted = false;
  if (caller.aborted) leave();
  else caller.addEventListener('abort', leave);

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
      caller.removeEventListener('abort', leave);
    },
  };
}

/** Tells the deadline's own abort from the caller's, whatever reason that has. */
const expired = new DOMException('The deadline of the upstream operation has passed.', 'TimeoutError');
