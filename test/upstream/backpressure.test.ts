import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../src/async/signal.ts';
import { createBackpressure } from '../../src/upstream/backpressure.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

describe('backpressure', () => {
  function tBackpressure() {
    const state = { waiting: 4 };
    const started: string[] = [];
    const backpressure = createBackpressure(() => state.waiting);
    const wait = (name: string, signal = new AbortableSignal()) =>
      backpressure.wait(signal).then(() => void started.push(name));
    return { state, started, backpressure, wait };
  }

  it('starts one query at a time, in their order, when fewer than four wait for turns', async () => {
    const { state, started, backpressure, wait } = tBackpressure();
    const [first, second] = [wait('first'), wait('second')];
    backpressure.relieve();
    state.waiting = 3;
    expect(backpressure.isHigh()).toBe(true);
    backpressure.relieve();
    await first;
    expect(started).toEqual(['first']);
    backpressure.relieve();
    await second;
    expect(backpressure.isHigh()).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('delays a query for a quarter of a second at most', async () => {
    const { started, wait } = tBackpressure();
    const first = wait('first');
    await vi.advanceTimersByTimeAsync(249);
    expect(started).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await first;
    expect(started).toEqual(['first']);
  });

  it('ends at once for a client that disconnects, or has before', async () => {
    const { state, backpressure, wait } = tBackpressure();
    const signal = new AbortableSignal();
    const first = wait('first', signal);
    signal.abort(null);
    await first;
    await wait('second', signal);
    state.waiting = 3;
    expect(backpressure.isHigh()).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
