import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSharedCache } from '../../../src/gateway/bank-data/shared-cache.ts';
import type { SharedValues } from '../../../src/gateway/stores/shared-values.ts';
import { tGate } from '../../support/turns.ts';

const entry = { answer: { valid: true }, freshUntil: 1_000, staleUntil: 2_000, version: null, lastPurge: 0 };
const options = { timeoutMs: 100, onLate() {} };

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
});

/** Values in memory that expire. */
function tValues(): SharedValues {
  const stored = new Map<string, { value: string; expiresAt: number }>();
  const read = (key: string) => {
    const found = stored.get(key);
    return found === undefined || found.expiresAt <= Date.now() ? null : found.value;
  };
  return {
    readMany: async (keys) => keys.map(read),
    write: (key, value, { expiresInMs }) => void stored.set(key, { value, expiresAt: Date.now() + expiresInMs }),
  };
}

/** A cache that waits 100 ms at most for values that arrive once the gate is open. */
function tSlowCache() {
  const values = tValues();
  const gate = tGate();
  const readMany = vi.fn(async (keys: readonly string[]) => {
    await gate.opened;
    return values.readMany(keys);
  });
  const onLate = vi.fn();
  const cache = createSharedCache({ ...values, readMany }, { ...options, onLate });
  cache.write('a', entry);
  return { cache, gate, onLate, readMany };
}

describe('the entries of a slow store', () => {
  it('are used if they arrive within the time limit', async () => {
    const { cache, gate, readMany } = tSlowCache();
    const found = cache.readMany(['b', 'a']);
    await vi.advanceTimersByTimeAsync(99);
    gate.open();
    expect(await found).toEqual([null, entry]);
    expect(readMany).toHaveBeenCalledOnce();
  });

  it('are not waited for any longer, which is reported once for all', async () => {
    const { cache, gate, onLate } = tSlowCache();
    const found = cache.readMany(['b', 'a']);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(101);
    expect(await found).toEqual([]);
    gate.open();
    await vi.advanceTimersByTimeAsync(0);
    expect(onLate).toHaveBeenCalledOnce();
  });

  it('are used if the process was busy and reads them only after the time limit', async () => {
    const { cache, gate, onLate } = tSlowCache();
    const found = cache.readMany(['a']);
    // The timer has fired, and the turn of the event loop that reads from sockets has not ended.
    vi.advanceTimersToNextTimer();
    gate.open();
    await vi.runAllTimersAsync();
    expect(await found).toEqual([entry]);
    expect(onLate).not.toHaveBeenCalled();
  });
});

it.each(['{', '{"answer":7}', '{"answer":{},"freshUntil":"soon","staleUntil":1}'])(
  'has no entry where the store has %s',
  async (text) => {
    const cache = createSharedCache({ ...tValues(), readMany: async () => [text] }, options);
    expect(await cache.readMany(['a'])).toEqual([null]);
  },
);

it('has no entries while the store fails', async () => {
  const readMany = () => Promise.reject(new Error('not connected'));
  expect(await createSharedCache({ ...tValues(), readMany }, options).readMany(['a', 'b'])).toEqual([]);
});

it('reads nothing before the purges are known', async () => {
  const values = tValues();
  const cache = createSharedCache(values, { ...options, loadPurges: () => Promise.reject(new Error('not connected')) });
  cache.write('a', entry);
  expect(await cache.readMany(['a'])).toEqual([]);
  expect(await createSharedCache(values, options).readMany(['a'])).toEqual([entry]);
});

it('stores an entry until it may not be served stale any more', async () => {
  const cache = createSharedCache(tValues(), options);
  cache.write('a', entry);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(await cache.readMany(['a'])).toEqual([entry]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await cache.readMany(['a'])).toEqual([null]);
});
