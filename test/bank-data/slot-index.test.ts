import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { createSlotIndex } from '../../src/bank-data/slot-index.ts';

const hashes = {
  'its own hash': undefined,
  'keys of one hash': () => -1,
  'a few neighbouring hashes': (key: string) => key.charCodeAt(0) % 3,
  // The last cells, so that keys are moved across the end of the table.
  'hashes at the end': (key: string) => -1 - (key.charCodeAt(0) % 3),
};

for (const [name, hash] of Object.entries(hashes)) {
  it(`has the same keys as a Map, with ${name}`, () => {
    const step = fc.record({ isAdded: fc.boolean(), key: fc.constantFrom(...'abcdefghijkl') });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const [index, expected] = [createSlotIndex(1_024, hash), new Map<string, number>()];
        for (const { isAdded, key } of steps) {
          const slot = expected.get(key);
          if (isAdded) expected.set(key, index.findOrAdd(key));
          if (isAdded && slot !== undefined) expect(expected.get(key)).toBe(slot);
          if (slot !== undefined && !isAdded) {
            index.delete(slot);
            expected.delete(key);
          }
          for (const key of 'abcdefghijkl') expect(index.find(key)).toBe(expected.get(key) ?? -1);
          expect(new Set(expected.values()).size).toBe(expected.size);
        }
      }),
    );
  });
}

it('grows, and uses the slots of deleted keys again', () => {
  const index = createSlotIndex(1_024);
  const keys = Array.from({ length: 10_000 }, (_, serial) => `DE${serial}`);
  const slots = keys.map(index.findOrAdd);
  expect(new Set(slots).size).toBe(10_000);
  expect(keys.map(index.find)).toEqual(slots);

  for (const slot of slots.slice(0, 9_000)) index.delete(slot);
  expect(keys.map(index.find)).toEqual([...Array(9_000).fill(-1), ...slots.slice(9_000)]);

  const others = keys.slice(0, 9_000).map((key) => index.findOrAdd(`FR${key}`));
  expect(new Set(others)).toEqual(new Set(slots.slice(0, 9_000)));
  expect(index.findOrAdd('one more')).toBe(10_000);
});

it('distinguishes keys of all characters', () => {
  const index = createSlotIndex(1_024);
  const keys = ['', 'a', 'aa', 'ab', 'ba', '\u0000', '\u0000\u0000', 'ä', '€', '😀', 'banks:["DE","Köln",0,10]'];
  const slots = keys.map(index.findOrAdd);
  expect(keys.map(index.find)).toEqual(slots);
  expect(index.find('b')).toBe(-1);
});

it('hashes a key once while it is asked for several times', () => {
  const hashOf = vi.fn((key: string) => key.length);
  const index = createSlotIndex(1_024, hashOf);
  hashOf.mockClear();
  index.find('a key');
  const slot = index.findOrAdd('a key');
  expect(index.find('a key')).toBe(slot);
  expect(index.find('another')).toBe(-1);
  expect(hashOf.mock.calls).toEqual([['a key'], ['another']]);
});
