import { expect, it } from 'vitest';
import { createEntryTable } from '../../src/bank-data/entry-table.ts';

const times = (serial: number) => ({ freshUntil: serial, staleUntil: 2 * serial });

it('keeps the values of many entries, each in its slot', () => {
  const table = createEntryTable<object>(1_024);
  for (let slot = 0; slot < 5_000; slot += 1) table.set(slot, { slot }, times(slot), slot + 1);
  for (let slot = 0; slot < 5_000; slot += 1) {
    expect(table.answerAt(slot)).toEqual({ slot });
    expect(table.timesAt(slot)).toEqual(times(slot));
    expect(table.bytesAt(slot)).toBe(slot + 1);
  }
});

it('replaces and deletes entries', () => {
  const table = createEntryTable<string>(1_024);
  for (const slot of [0, 1, 2]) table.set(slot, `answer ${slot}`, times(slot), 100);
  table.set(1, 'another', times(9), 200);
  table.delete(2);
  expect([0, 1, 2, 3, 100_000].map(table.bytesAt)).toEqual([100, 200, 0, 0, 0]);
  expect([0, 1].map(table.answerAt)).toEqual(['answer 0', 'another']);
  expect(table.timesAt(1)).toEqual(times(9));
});
