import { expect, it } from 'vitest';
import { createValuePool } from '../../src/bank-data/rest/value-pool.ts';

const commerzbank = { name: 'Commerzbank', city: 'Köln' as string | null };

it('returns the same object for equal values of a key, and each value that differs', () => {
  const pool = createValuePool<typeof commerzbank>(10);
  const first = pool('37040044', { ...commerzbank });
  expect(pool('37040044', { ...commerzbank })).toBe(first);
  for (const other of [
    { ...commerzbank, city: 'Berlin' },
    { ...commerzbank, city: null },
    { ...commerzbank, name: '' },
  ]) {
    expect(pool('37040044', other)).toBe(other);
    expect(pool('37040044', { ...other })).toBe(other);
  }
  expect(first).toEqual(commerzbank);
});

it('has no more keys than it may', () => {
  const pool = createValuePool<typeof commerzbank>(2);
  const [first, second] = ['a', 'b'].map((key) => pool(key, { ...commerzbank }));
  expect(pool('b', { ...commerzbank, city: 'Berlin' }).city).toBe('Berlin');
  expect(pool('a', { ...commerzbank })).toBe(first);
  pool('c', { ...commerzbank });
  expect(pool('a', { ...commerzbank })).not.toBe(first);
  expect(second).toEqual(commerzbank);
});

it('keeps no long texts', () => {
  const pool = createValuePool<typeof commerzbank>(2);
  for (const city of ['x'.repeat(101), 'x'.repeat(1_000_000)]) {
    const first = pool('a', { ...commerzbank, city });
    expect(pool('a', { ...commerzbank, city })).not.toBe(first);
  }
  const city = 'x'.repeat(100);
  expect(pool('b', { ...commerzbank, city })).toBe(pool('b', { ...commerzbank, city }));
});
