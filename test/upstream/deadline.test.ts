import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startDeadline } from '../../src/upstream/deadline.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a deadline', () => {
  it('expires after its time, and not before', () => {
    const deadline = startDeadline(1_000, new AbortController().signal);
    vi.advanceTimersByTime(999);
    expect([deadline.signal.aborted, deadline.leftMs(), deadline.hasExpired()]).toEqual([false, 1, false]);
    vi.advanceTimersByTime(1);
    expect([deadline.signal.aborted, deadline.leftMs(), deadline.hasExpired()]).toEqual([true, 0, true]);
  });

  it('aborts with the reason of a caller who aborts, and has not expired then', () => {
    const caller = new AbortController();
    const deadline = startDeadline(1_000, caller.signal);
    caller.abort('gone');
    vi.advanceTimersByTime(1_000);
    expect([deadline.signal.reason, deadline.hasExpired()]).toEqual(['gone', false]);
    deadline.end();
    expect(startDeadline(1_000, caller.signal).signal.reason).toBe('gone');
  });

  it('restarts once', () => {
    const deadline = startDeadline(1_000, new AbortController().signal);
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

  it('leaves neither a timer nor a listener behind', () => {
    const caller = new AbortController();
    const removed = vi.spyOn(caller.signal, 'removeEventListener');
    startDeadline(1_000, caller.signal).end();
    expect(vi.getTimerCount()).toBe(0);
    expect(removed).toHaveBeenCalledTimes(1);
  });
});
