import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../src/async/signal.ts';
import { createDeadlines } from '../../src/upstream/deadline.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

describe('a deadline', () => {
  it('expires after its time, and not before', () => {
    const deadline = createDeadlines(1_000).start(new AbortController().signal);
    vi.advanceTimersByTime(999);
    expect([deadline.aborted, deadline.leftMs(), deadline.hasExpired()]).toEqual([false, 1, false]);
    vi.advanceTimersByTime(1);
    expect([deadline.aborted, deadline.leftMs(), deadline.hasExpired()]).toEqual([true, 0, true]);
  });

  it('aborts with the reason of a caller who aborts, and has not expired then', () => {
    const caller = new AbortController();
    const deadline = createDeadlines(1_000).start(caller.signal);
    caller.abort('gone');
    vi.advanceTimersByTime(1_000);
    expect([deadline.reason, deadline.hasExpired()]).toEqual(['gone', false]);
    deadline.end();
    expect(createDeadlines(1_000).start(caller.signal).reason).toBe('gone');
  });

  it('expires although a listener of another one throws', () => {
    const deadlines = createDeadlines(1_000);
    const [first, second] = [0, 1].map(() => deadlines.start(new AbortController().signal));
    first?.addEventListener('abort', () => {
      throw new Error('fault of a listener');
    });
    expect(() => vi.advanceTimersByTime(1_000)).toThrow('fault of a listener');
    vi.advanceTimersByTime(1);
    expect(second?.hasExpired()).toBe(true);
  });

  it('restarts once', () => {
    const deadline = createDeadlines(1_000).start(new AbortController().signal);
    vi.advanceTimersByTime(900);
    deadline.restart();
    expect(deadline.leftMs()).toBe(1_000);
    vi.advanceTimersByTime(900);
    deadline.restart();
    expect(deadline.leftMs()).toBe(100);
    vi.advanceTimersByTime(100);
    expect(deadline.hasExpired()).toBe(true);
    deadline.restart();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no listener behind, and a timer only until it fires', () => {
    const caller = new AbortController();
    const removed = vi.spyOn(caller.signal, 'removeEventListener');
    createDeadlines(1_000).start(caller.signal).end();
    expect(removed).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('shares a timer with all deadlines of its client, whichever of them end first', () => {
    const { start } = createDeadlines(1_000);
    const caller = new AbortableSignal();
    const first = start(caller);
    vi.advanceTimersByTime(300);
    const second = start(caller);
    vi.advanceTimersByTime(300);
    const third = start(caller);
    expect(vi.getTimerCount()).toBe(1);
    first.end();
    second.restart();
    vi.advanceTimersByTime(999);
    expect([first, second, third].map((deadline) => deadline.hasExpired())).toEqual([false, false, false]);
    vi.advanceTimersByTime(1);
    expect([first, second, third].map((deadline) => deadline.hasExpired())).toEqual([false, true, true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not delay the others if it begins when one of them expires', () => {
    const { start } = createDeadlines(1_000);
    const first = start(new AbortableSignal());
    vi.advanceTimersByTime(300);
    const second = start(new AbortableSignal());
    first.addEventListener('abort', () => start(new AbortableSignal()));
    vi.advanceTimersByTime(1_000);
    expect([first.hasExpired(), second.hasExpired()]).toEqual([true, true]);
    vi.advanceTimersByTime(700);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is shorter by the time that was used before, and does not delay the others', () => {
    const { start } = createDeadlines(1_000);
    const caller = new AbortableSignal();
    const [full, shorter] = [start(caller), start(caller, 400)];
    expect(shorter.leftMs()).toBe(600);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(600);
    expect([full.hasExpired(), shorter.hasExpired()]).toEqual([false, true]);
    vi.advanceTimersByTime(400);
    expect(full.hasExpired()).toBe(true);
  });

  it('expires at its time, whatever the others do', () => {
    const step = fc.record({ waitMs: fc.nat(400), elapsedMs: fc.nat(999), endsEarly: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const { start } = createDeadlines(1_000);
        const expired = new Map<number, number>();
        const expected = new Map<number, number>();
        for (const [index, { waitMs, elapsedMs, endsEarly }] of steps.entries()) {
          vi.advanceTimersByTime(waitMs);
          const deadline = start(new AbortableSignal(), elapsedMs);
          deadline.addEventListener('abort', () => expired.set(index, performance.now()));
          if (endsEarly) deadline.end();
          else expected.set(index, performance.now() + 1_000 - elapsedMs);
          expect(vi.getTimerCount()).toBe(1);
        }
        vi.advanceTimersByTime(1_000);
        expect([...expired].toSorted()).toEqual([...expected].toSorted());
        expect(vi.getTimerCount()).toBe(0);
      }),
    );
  });
});
