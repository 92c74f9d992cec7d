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
      const slots = new Map<string, number>();
      for (const { kind, key, value } of list) {
        const slot = slots.get(key);
        if (kind === 'set') {
          slots.set(key, map.set(key, value));
          expected.set(key, value);
        } else if (slot !== undefined) {
          map.delete(key, slot);
          map.delete(key, slot);
          slots.delete(key);
          expected.delete(key);
        }
        for (const key of 'abcd') expect(map.get(key)).toBe(expected.get(key) ?? null);
        for (const [key, slot] of slots) expect(map.at(slot)).toBe(expected.get(key));
        expect(new Set(slots.values()).size).toBe(expected.size);
        if (slot !== undefined && kind === 'delete') expect(map.at(slot)).toBeNull();
      }
    }),
  );
});
