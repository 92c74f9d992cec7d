import { describe, expect, it } from 'vitest';
import { tScript } from '../process.ts';
import { tClock } from './clock.ts';
import { createExpiringMap } from './expiring-map.ts';
import { createMemoryStore } from './memory-store.ts';
import { describeStore } from './store-contract.ts';

const hour = { expiresInMs: 3_600_000 };

describeStore('the memory store', async () => {
  const { now, pass } = tClock();
  const store = createMemoryStore({ now });
  return { store, another: () => store, pass };
});

describe('the memory store', () => {
  it('lets the least recently used values go, and no counter or lock for them', async () => {
    const store = createMemoryStore({ maxEntries: 2 });
    await store.add('calls', 1, hour);
    await store.lock('essay', hour);
    for (const key of ['a', 'b']) await store.set(key, key, hour);
    await store.get('a');
    await store.set('c', 'c', hour);
    expect(await Promise.all(['a', 'b', 'c'].map(store.get))).toEqual(['a', null, 'c']);
    expect(await store.add('calls', 1, hour)).toBe(2);
    expect(await store.lock('essay', hour)).toBeNull();
  });

  it('is bounded in bytes, too: what is too large is not kept, nor what it would replace', async () => {
    const store = createMemoryStore({ maxBytes: 10_000 });
    await store.set('large', 'old', hour);
    await store.set('large', 'x'.repeat(10_000), hour);
    expect(await store.get('large')).toBeNull();
    for (let number = 0; number < 100; number++) await store.set(String(number), 'x'.repeat(1_000), hour);
    expect(await store.get('99')).not.toBeNull();
    expect(await store.get('95')).toBeNull();
  });

  it('holds no more expired counters than live ones, without a timer', () => {
    const { now, pass } = tClock();
    const counters = createExpiringMap<number>(now);
    for (let number = 0; number < 100_000; number++) {
      counters.set(String(number), { value: 1, expiresAt: now() + 1_000 });
      void pass(1);
    }
    expect(counters.size()).toBeLessThanOrEqual(2_001);
    expect(counters.get('99000')).toBeUndefined();
    expect(counters.get('99999')).toBeDefined();
  });

  it('does not keep its process from ending', async () => {
    const child = tScript('test/stores/idle-memory-store.ts');
    expect(await child.ended).toEqual({ code: 0, signal: null });
  });
});
