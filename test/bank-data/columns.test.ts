import { expect, it } from 'vitest';
import { PagedColumn, slotsFor } from '../../src/bank-data/columns.ts';

it.each([
  [0, 1_024],
  [1_023.5, 1_024],
  [2_047, 1_024],
  [2_048, 2_048],
  [100_000, 65_536],
  [147_000, 131_072],
  [1e9, 131_072],
])('begins with room for a power of two of slots: for %d entries, %d', (entries, slots) => {
  expect(slotsFor(entries)).toBe(slots);
});

it('has the objects of slots, in whatever order they are set', () => {
  const column = new PagedColumn<string>();
  for (const slot of [5_000, 0, 1_023, 1_024]) column.set(slot, `of ${slot}`);
  column.set(1_023, null);
  expect([-1, 0, 1, 1_023, 1_024, 5_000, 9_999].map((slot) => column.at(slot))).toEqual([
    null,
    'of 0',
    null,
    null,
    'of 1024',
    'of 5000',
    null,
  ]);
});
