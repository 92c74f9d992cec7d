import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSlotMap } from '../../src/bank-data/slot-map.ts';

it('has the same entries as a Map', () => {
  const operations = fc.array(
    fc.record({ kind: fc.constantFrom('set', 'delete'), key: fc.constantFrom('a', 'b', 'c', 'd'), value: fc.nat() }),
  );
  fc.assert(
    fc.property(operations, (list) => {
      const [map, expected] = [createSlotMap<number>(), new Map<string, number>()];
      for (const { kind, key, value } of list) {
        if (kind === 'set') {
          map.set(key, value);
          expected.set(key, value);
        } else {
          map.delete(key);
          expected.delete(key);
        }
        for (const key of 'abcd') expect(map.get(key)).toBe(expected.get(key) ?? null);
      }
    }),
  );
});
