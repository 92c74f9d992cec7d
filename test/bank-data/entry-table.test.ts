import { expect, it } from 'vitest';
import { createEntryTable } from '../../src/bank-data/entry-table.ts';
import { createMemoryCache } from '../../src/bank-data/memory-cache.ts';

const times = (serial: number) => ({ freshUntil: serial, staleUntil: 2 * serial, version: `v${serial}` });

it('keeps the values of many entries, each in its slot', () => {
  const table = createEntryTable<object>();
  const entries = Array.from({ length: 5_000 }, (_, serial) => ({
    serial,
    slot: table.add({ serial }, times(serial)),
  }));
  expect(new Set(entries.map(({ slot }) => slot)).size).toBe(5_000);
  for (const { serial, slot } of entries) {
    expect(table.answerAt(slot)).toEqual({ serial });
    expect(table.timesAt(slot)).toEqual(times(serial));
  }
});

it('uses the slots of deleted entries again', () => {
  const table = createEntryTable<string>();
  const slots = ['a', 'b', 'c'].map((answer, index) => table.add(answer, times(index)));
  table.delete(slots[1] ?? -1);
  expect(table.add('d', times(9))).toBe(slots[1]);
  expect(slots.map(table.answerAt)).toEqual(['a', 'd', 'c']);
  expect(slots.map((slot) => table.timesAt(slot).freshUntil)).toEqual([0, 9, 2]);
});

it('holds the entries of a cache that replaces, evicts and refuses some of them', () => {
  const cache = createMemoryCache(10_000);
  const entry = (text: string) => ({ answer: { text }, ...times(text.length) });
  for (let round = 0; round < 100; round += 1) {
    for (let key = 0; key < 30; key += 1) cache.set(`k${key}`, entry('x'.repeat(1 + ((key * round) % 50))));
    cache.set('k29', entry('x'.repeat(20_000)));
  }
  expect(cache.get('k29')).toBeUndefined();
  const kept = Array.from({ length: 29 }, (_, key) => ({ found: cache.get(`k${key}`), length: 1 + ((key * 99) % 50) }));
  expect(kept.filter(({ found }) => found)).toHaveLength(cache.status().entries);
  expect(cache.status().entries).toBeGreaterThan(10);
  for (const { found, length } of kept) if (found) expect(found).toEqual(entry('x'.repeat(length)));
});
