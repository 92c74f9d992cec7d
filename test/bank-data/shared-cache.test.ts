import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSharedCache } from '../../src/bank-data/shared-cache.ts';
import { tGate } from '../support/gate.ts';
import { createMemoryStore } from '../support/stores/memory-store.ts';

const entry = { answer: { valid: true }, freshUntil: 1_000, staleUntil: 2_000, version: null };
const options = { timeoutMs: 100, keepsStale: true };

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
  return { cache: createSharedCache({ ...store, get }, options), gate };
}

describe('an entry of a slow store', () => {
  it('is used if it arrives within the time limit', async () => {
    const { cache, gate } = await tSlowCache();
    const found = cache.get('a');
    await vi.advanceTimersByTimeAsync(99);
    gate.open();
    expect(await found).toEqual(entry);
  });

  it('is not waited for any longer', async () => {
    const { cache, gate } = await tSlowCache();
    const found = cache.get('a');
    await vi.advanceTimersByTimeAsync(101);
    expect(await found).toBeNull();
    gate.open();
  });

  it('is used if the process was busy and reads it only after the time limit', async () => {
    const { cache, gate } = await tSlowCache();
    const found = cache.get('a');
    // The timer has fired, and the turn of the event loop that reads from sockets has not ended.
    vi.advanceTimersToNextTimer();
    gate.open();
    await vi.runAllTimersAsync();
    expect(await found).toEqual(entry);
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

it.each([
  { keepsStale: true, storedMs: 2_000 },
  { keepsStale: false, storedMs: 1_000 },
])('stores an entry for $storedMs ms if keepsStale is $keepsStale', async ({ keepsStale, storedMs }) => {
  const cache = createSharedCache(createMemoryStore(), { ...options, keepsStale });
  cache.set('a', entry);
  await vi.advanceTimersByTimeAsync(storedMs - 1);
  expect(await cache.get('a')).toEqual(entry);
  await vi.advanceTimersByTimeAsync(1);
  expect(await cache.get('a')).toBeNull();
});
