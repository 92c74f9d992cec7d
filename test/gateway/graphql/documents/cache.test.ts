import { expect, it } from 'vitest';
import { createDocumentCache } from '../../../../src/gateway/graphql/documents/documents.ts';

it('counts what entries take when they are set and when they grow, and removes the least recently used ones', () => {
  const cache = createDocumentCache<string>();
  const addBytes = cache.set('a', 'first', 5_000_000);
  cache.set('b', 'second', 5_000_000);
  addBytes(2_000_000);
  expect(cache.status()).toEqual({ entries: 2, bytes: 12_000_000 });
  expect(cache.get('a')).toBe('first');
  cache.set('c', 'third', 1_000_000);
  expect(['a', 'b', 'c'].map((key) => cache.has(key))).toEqual([true, false, true]);
  expect(cache.get('b')).toBeUndefined();
});

it('counts nothing for an entry that was replaced or removed', () => {
  const cache = createDocumentCache<string>();
  const addToReplaced = cache.set('a', 'first', 1_000);
  cache.set('a', 'second', 2_000);
  addToReplaced(500);
  expect(cache.status()).toEqual({ entries: 1, bytes: 2_000 });
  cache.set('b', 'large', 12_500_000);
  addToReplaced(500);
  expect(cache.status()).toEqual({ entries: 1, bytes: 12_500_000 });
});
