import { expect, it } from 'vitest';
import { createLookUpTable } from '../../../src/gateway/bank-data/look-up-table.ts';

const tEntry = (text: string) => ({
  answer: { text },
  freshUntil: text.length,
  staleUntil: 2 * text.length,
  lastPurge: 0,
});

function tTable(maxBytes = 10_000, keys = 'abc') {
  const table = createLookUpTable(maxBytes);
  for (const key of keys) table.set(key, tEntry('x'));
  const has = (keys: string) => [...keys].map((key) => table.get(key) !== null);
  return { table, has };
}

it('has the last entry of each key', () => {
  const { table } = tTable();
  table.set('a', tEntry('new'));
  expect([table.get('a'), table.get('b'), table.get('d')]).toEqual([tEntry('new'), tEntry('x'), null]);
  expect(table.status().entries).toBe(3);
  table.clear();
  expect(table.status()).toEqual({ entries: 0, bytes: 0 });
  expect(table.get('a')).toBeNull();
});

it('removes the entry that was used the longest time ago', () => {
  const maxBytes = tTable().table.status().bytes;
  const { table, has } = tTable(maxBytes);
  table.get('a');
  table.set('d', tEntry('x'));
  expect(has('abcd')).toEqual([true, false, true, true]);
  expect(table.status().bytes).toBe(maxBytes);
});

it('keeps no entry that is larger than its limit, nor the one that it would replace', () => {
  const { table, has } = tTable();
  table.set('b', tEntry('x'.repeat(20_000)));
  expect(has('abc')).toEqual([true, false, true]);
});
