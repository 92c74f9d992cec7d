import { vi } from 'vitest';

/** When every test begins. */
const noon = new Date('2026-11-21T12:00:00Z');

/** Timers that somebody waits for, by their length: before a retry, and for an upstream. Libraries tick in between. */
const waits = { fromMs: 10, toMs: 450 };
const deadlines = { fromMs: 1_000, toMs: Number.POSITIVE_INFINITY };

export interface FakeClock {
  /**
   * Lets time pass where nothing but time can help: up to the next retry, and, where the upstream has said all that it
   * ever will, up to the next deadline.
   */
  until(isDone: () => boolean, isStuck: () => boolean): Promise<void>;
  /** Likewise, and tells how much time it took. */
  untilSettled<Answer>(asked: Promise<Answer>, isStuck: () => boolean): Promise<{ answer: Answer; afterMs: number }>;
  pass(ms: number): void;
  /** It is later now, and nothing happened meanwhile, as after a machine slept. */
  jump(ms: number): void;
  /** From now on, time passes by itself. */
  stop(): void;
}

/** Timers and clocks that stand still until they are told to go on. Chance draws what makes waits longest. */
export function tFakeClock(): FakeClock {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: noon });
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const { pending, stopRecording } = recordTimers();
  let isStopped = false;

  function earliest({ fromMs, toMs }: typeof waits): number | undefined {
    const wanted = [...pending.values()].filter(({ delayMs }) => delayMs >= fromMs && delayMs <= toMs);
    return wanted.map(({ dueAt }) => dueAt).sort((a, b) => a - b)[0];
  }

  async function until(isDone: () => boolean, isStuck: () => boolean): Promise<void> {
    while (!isDone()) {
      await turns(1);
      if (isDone()) return;
      if (isStopped) throw new Error('it never came to an end');
      const now = performance.now();
      const next = earliest(waits) ?? (isStuck() ? earliest(deadlines) : undefined) ?? now;
      vi.advanceTimersByTime(next - now);
    }
  }

  return {
    until,
    async untilSettled(asked, isStuck) {
      const askedAt = performance.now();
      let afterMs: number | undefined;
      const answer = asked.finally(() => {
        afterMs = performance.now() - askedAt;
      });
      // It is awaited below; until then, a failure of it is not unhandled.
      answer.catch(() => {});
      await until(() => afterMs !== undefined, isStuck);
      return { answer: await answer, afterMs: afterMs ?? Number.NaN };
    },
    pass: (ms) => void vi.advanceTimersByTime(ms),
    jump: (ms) => void vi.setSystemTime(Date.now() + ms),
    stop() {
      isStopped = true;
      stopRecording();
      vi.useRealTimers();
    },
  };
}

/** Turns of the event loop: time for what is under way to arrive, and none by the clock. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Which timers are set, by wrapping the faked functions. */
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
  globalThis.setTimeout = recorded as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    pending.delete(timer);
    clear(timer);
  };
  const stopRecording = () => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  return { pending, stopRecording };
}
