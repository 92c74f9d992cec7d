import { onTestFinished, vi } from 'vitest';

/** The time at which every test starts. */
export const start = new Date('2026-11-21T12:00:00Z');

/**
 * Timers are distinguished by their length: pauses before retries, and deadlines. Others are those of libraries, such as the
 * ticks of undici, 499 ms. One timer serves all deadlines, so it may run for what is left of the next one: 500 ms after the
 * pauses of an operation.
 */
const pauses = { fromMs: 10, toMs: 450 };
const deadlines = { fromMs: 500, toMs: Number.POSITIVE_INFINITY };

export type FakeClock = ReturnType<typeof tFakeClock>;

/** Fake timers and clocks, which stand still until they are advanced. Random pauses have their maximum. */
export function tFakeClock() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: start });
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const pending = recordTimers();
  let isStopped = false;
  // `until` would wait for ever when time is real again.
  onTestFinished(() => {
    isStopped = true;
  });

  function earliest({ fromMs, toMs }: typeof pauses): number | undefined {
    const wanted = [...pending.values()].filter(({ delayMs }) => delayMs >= fromMs && delayMs <= toMs);
    return wanted.map(({ dueAt }) => dueAt).sort((a, b) => a - b)[0];
  }

  /**
   * Advances the clock only where nothing else can help: to the end of a pause before a retry and, while `isStuck`, to the
   * next deadline.
   */
  async function until(isDone: () => boolean, isStuck: () => boolean): Promise<void> {
    while (!isDone()) {
      await turns(1);
      if (isDone()) return;
      if (isStopped) throw new Error('the test ended before this was done');
      const now = performance.now();
      const next = earliest(pauses) ?? (isStuck() ? earliest(deadlines) : undefined) ?? now;
      vi.advanceTimersByTime(next - now);
    }
  }

  return {
    until,
    /** Likewise until this promise settles. @returns its value, and the time that passed */
    async untilSettled<Value>(promise: Promise<Value>, isStuck: () => boolean) {
      const startedAt = performance.now();
      let afterMs: number | undefined;
      const value = promise.finally(() => {
        afterMs = performance.now() - startedAt;
      });
      // It is awaited below; a rejection before that is not unhandled.
      value.catch(() => {});
      await until(() => afterMs !== undefined, isStuck);
      return { value: await value, afterMs: afterMs ?? Number.NaN };
    },
    advance: (ms: number) => void vi.advanceTimersByTime(ms),
    /** Changes the date without running any timer, as after a machine was suspended. */
    jump: (ms: number) => void vi.setSystemTime(Date.now() + ms),
  };
}

/** Turns of the event loop: pending I/O is processed, while the clock stands still. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Records the pending timers by wrapping the fake functions. */
function recordTimers() {
  const pending = new Map<unknown, { delayMs: number; dueAt: number }>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const recorded = (callback: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) => {
    const timer = set(() => {
      pending.delete(timer);
      callback(...args);
    }, delayMs);
    pending.set(timer, { delayMs, dueAt: performance.now() + delayMs });
    return timer;
  };
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(recorded as typeof setTimeout);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    pending.delete(timer);
    clear(timer);
  });
  return pending;
}
