import { AbortableSignal, type Signal } from '../async/signal.ts';
import { createLinkedList, type ListNode } from './linked-list.ts';

/** The time limit of one operation, combined with the caller's abort signal. */
export interface Deadline {
  /** Aborts at the deadline, or with the caller's reason as soon as the caller aborts. */
  signal: Signal;
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

export interface Deadlines {
  /** @param elapsedMs how much of the timeout was used before; below the timeout */
  start(caller: Signal, elapsedMs?: number): Deadline;
}

interface Entry {
  endsAt: number;
  expire: () => void;
}

/** Deadlines of one length. They expire in the order in which they begin, so that one timer serves them all. */
export function createDeadlines(timeoutMs: number): Deadlines {
  const entries = createLinkedList<Entry>();
  let timer: NodeJS.Timeout | null = null;

  return { start };

  function start(caller: Signal, elapsedMs = 0): Deadline {
    const signal = new AbortableSignal();
    let entry: Entry = { endsAt: performance.now() + timeoutMs - elapsedMs, expire: () => signal.abort(expired) };
    let cancel = elapsedMs > 0 ? startTimer(entry) : append(entry);
    let isRestarted = false;
    const onAbort = () => signal.abort(caller.reason);
    if (caller.aborted) onAbort();
    else caller.addEventListener('abort', onAbort);

    return {
      signal,
      leftMs: () => entry.endsAt - performance.now(),
      hasExpired: () => signal.reason === expired,
      restart() {
        if (isRestarted || signal.aborted) return;
        isRestarted = true;
        cancel();
        entry = { endsAt: performance.now() + timeoutMs, expire: entry.expire };
        cancel = append(entry);
      },
      end() {
        cancel();
        caller.removeEventListener('abort', onAbort);
      },
    };
  }

  /** @returns a function that removes the entry */
  function append(entry: Entry): () => void {
    const node: ListNode<Entry> = entries.append(entry);
    timer ??= setTimeout(expireDue, timeoutMs);
    return () => {
      if (!node.remove() || timer === null || entries.first() !== null) return;
      clearTimeout(timer);
      timer = null;
    };
  }

  /** The timer was started for a deadline that may have ended since: then it is started again for the next one. */
  function expireDue(): void {
    timer = null;
    for (let node = entries.first(); node !== null; node = entries.first()) {
      const leftMs = node.value.endsAt - performance.now();
      if (leftMs >= timerToleranceMs) {
        timer ??= setTimeout(expireDue, leftMs);
        return;
      }
      node.remove();
      node.value.expire();
    }
  }
}

/** Of a shorter deadline, which does not expire in the common order. */
function startTimer({ endsAt, expire }: Entry): () => void {
  const timer = setTimeout(expire, endsAt - performance.now());
  return () => clearTimeout(timer);
}

/** Timers of Node.js may fire up to a millisecond early. */
const timerToleranceMs = 1;

/** The unique reason that distinguishes the timeout from an abort by the caller. */
const expired = new DOMException('The deadline of the upstream operation has passed.', 'TimeoutError');
