import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRecencyList } from '../../src/bank-data/recency-list.ts';

it('knows the slot that was used the longest time ago', () => {
  const step = fc.record({ kind: fc.constantFrom('use', 'remove', 'remove the oldest'), slot: fc.nat(6) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const list = createRecencyList(1_024);
      let expected: number[] = [];
      const remove = (slot: number) => {
        if (!expected.includes(slot)) return;
        list.remove(slot);
        expected = expected.filter((other) => other !== slot);
      };
      for (const { kind, slot } of steps) {
        remove(kind === 'remove the oldest' ? list.oldest() : slot);
        if (kind === 'use') {
          list.add(slot);
          expected.push(slot);
        }
        expect(list.oldest()).toBe(expected[0] ?? -1);
      }
    }),
  );
});

it('grows', () => {
  const list = createRecencyList(1_024);
  for (let slot = 4_999; slot >= 0; slot -= 1) list.add(slot);
  for (let slot = 4_999; slot >= 0; slot -= 1) {
    expect(list.oldest()).toBe(slot);
    list.remove(slot);
  }
  expect(list.oldest()).toBe(-1);
});
