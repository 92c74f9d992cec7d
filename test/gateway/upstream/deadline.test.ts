import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import { Deadline } from '../../../src/gateway/upstream/deadline.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

describe('a deadline', () => {
  it('expires after its time, and not before', () => {
    const deadline = new Deadline(new AbortableSignal(), 1_000);
    expect(deadline.leftMs()).toBe(1_000);
    vi.advanceTimersByTime(999);
    expect([deadline.aborted, deadline.leftMs(), deadline.hasExpired()]).toEqual([false, 1, false]);
    vi.advanceTimersByTime(1);
    expect([deadline.aborted, deadline.leftMs(), deadline.hasExpired()]).toEqual([true, 0, true]);
  });

  it('aborts with the reason of a caller who aborts, and has not expired then', () => {
    const caller = new AbortController();
    const deadline = new Deadline(caller.signal, 1_000);
    caller.abort('gone');
    vi.advanceTimersByTime(1_000);
    expect([deadline.reason, deadline.hasExpired()]).toEqual(['gone', false]);
    deadline.end();
    expect(new Deadline(caller.signal, 1_000).reason).toBe('gone');
  });

  it('restarts once', () => {
    const deadline = new Deadline(new AbortController().signal, 1_000);
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
});
