import { expect, it } from 'vitest';
import { createDocumentCache } from '../../../src/graphql/documents/cache.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';

it('has the values of keys of equal and of different lengths', () => {
  const cache = createDocumentCache<number>();
  const keys = Array.from({ length: 300 }, (_, serial) => `${serial} `.repeat(1 + (serial % 70)));
  for (const [value, key] of keys.entries()) cache.set(key, value, 10);
  for (let round = 0; round < 2; round += 1)
    for (const [value, key] of keys.entries()) {
      expect(cache.get(key)).toBe(value);
      expect(cache.get(`${key}!`)).toBeUndefined();
      // The same text, received again.
      expect(cache.get(Buffer.from(key).toString())).toBe(value);
    }
});

it('has no value of a key whose entry was removed, although it was found before', () => {
  const cache = createDocumentCache<string>();
  cache.set('old', 'value', 10);
  expect(cache.get('old')).toBe('value');
  for (let serial = 0; serial < 20; serial += 1) cache.set(`new ${serial}`, 'value', 1_000_000);
  expect(cache.get('old')).toBeUndefined();
});

it('refers to no key of an entry that was removed', () => {
  const cache = createDocumentCache<string>();
  const heapWith = (count: number) => {
    for (let serial = 0; serial < count; serial += 1) {
      const key = `${serial} `.padEnd(100_000 + serial, '\u20ac');
      cache.set(key, 'value', 10_000_000);
      expect(cache.get(Buffer.from(key).toString())).toBe('value');
    }
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = heapWith(1);
  // 64 of these texts would take 12.8 MB.
  expect(heapWith(64) - before).toBeLessThan(3_000_000);
});
