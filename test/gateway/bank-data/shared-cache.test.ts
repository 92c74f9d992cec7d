import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSharedCache } from '../../../src/gateway/bank-data/shared-cache.ts';
import { tGate } from '../../support/gate.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';

const entry = { answer: { valid: true }, freshUntil: 1_000, staleUntil: 2_000, version: null };
const options = { timeoutMs: 100, onLate() {} };

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
});

/** A cache that waits 100 ms at most for a store that answers once the gate is open. */
async function tSlowCache() {
  const store = createMemoryStore();
  createSharedCache(store, options).set('a', entry);
  await vi.advanceTimersByTimeAsync(0);
  const gate = tGate();
  const get = async (key: string) => {
    await gate.opened;
    return store.get(key);
  };
  const onLate = vi.fn();
  return { cache: createSharedCache({ ...store, get }, { ...options, onLate }), gate, onLate };
}

describe('an entry of a slow store', () => {
  it('is used if it arrives within the time limit', async () => {
    const { cache, gate } = await tSlowCache();
    const found = cache.get('a');
    await vi.advanceTimersByTimeAsync(99);
    gate.open();
    expect(await found).toEqual(entry);
  });

  it('is not waited for any longer, which is reported once', async () => {
    const { cache, gate, onLate } = await tSlowCache();
    const found = cache.get('a');
    await vi.advanceTimersByTimeAsync(101);
    expect(await found).toBeNull();
    gate.open();
    await vi.advanceTimersByTimeAsync(0);
    expect(onLate).toHaveBeenCalledOnce();
  });

  it('is used if the process was busy and reads it only after the time limit', async () => {
    const { cache, gate, onLate } = await tSlowCache();
    const found = cache.get('a');
    // The timer has fired, and the turn of the event loop that reads from sockets has not ended.
    vi.advanceTimersToNextTimer();
    gate.open();
    await vi.runAllTimersAsync();
    expect(await found).toEqual(entry);
    expect(onLate).not.toHaveBeenCalled();
  });
});

it.each(['{', '{"answer":7}', '{"answer":{},"freshUntil":"soon","staleUntil":1}'])(
  'has no entry where the store has %s',
  async (text) => {
    const store = createMemoryStore();
    const cache = createSharedCache({ ...store, get: async () => text }, options);
    expect(await cache.get('a')).toBeNull();
  },
);

it('stores an entry until it may not be served stale any more', async () => {
  const cache = createSharedCache(createMemoryStore(), options);
  cache.set('a', entry);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(await cache.get('a')).toEqual(entry);
  await vi.advanceTimersByTimeAsync(1);
  expect(await cache.get('a')).toBeNull();
});
