import { randomInt } from 'node:crypto';
import { firstSlots, grow } from './columns.ts';

/** Keys, each with a slot: the position of its values in columns. */
export interface SlotIndex {
  /** -1: the key has none. */
  find(key: string): number;
  /** @param key one that has none. @returns its slot, which an earlier key may have had */
  add(key: string): number;
  delete(slot: number): void;
}

/**
 * A hash table of numbers, with linear probing. A `Map` whose keys come and go replaces its tables again and again, in the old
 * generation of the heap, and reads the text of a key to compare its hash. Here, a key that is not found usually takes one read
 * from memory, and one that is deleted leaves no garbage but its text.
 */
export function createSlotIndex(hashOf = hashText): SlotIndex {
  const keys: string[] = [];
  const freeSlots: number[] = [];
  let hashes = new Int32Array(firstSlots);
  /** At 2n the hash of a key, and at 2n + 1 its slot plus 1; 0 if the cell is empty. At least half of the cells are. */
  let cells = new Int32Array(4 * firstSlots);
  let mask = cells.length / 2 - 1;

  return {
    find(key) {
      const hash = hashOf(key);
      for (let cell = hash & mask; ; cell = (cell + 1) & mask) {
        const slot = (cells[2 * cell + 1] as number) - 1;
        if (slot === -1 || (cells[2 * cell] === hash && keys[slot] === key)) return slot;
      }
    },
    add(key) {
      const slot = freeSlots.pop() ?? keys.length;
      if (slot === hashes.length) growTable();
      const hash = hashOf(key);
      keys[slot] = key;
      hashes[slot] = hash;
      fill(hash, slot);
      return slot;
    },
    delete(slot) {
      let hole = (hashes[slot] as number) & mask;
      while (cells[2 * hole + 1] !== slot + 1) hole = (hole + 1) & mask;
      // The keys after it, up to the next empty cell, are found only if no cell on their way is empty.
      for (let cell = (hole + 1) & mask; cells[2 * cell + 1] !== 0; cell = (cell + 1) & mask) {
        const probes = (cell - (cells[2 * cell] as number)) & mask;
        if (probes < ((cell - hole) & mask)) continue;
        cells[2 * hole] = cells[2 * cell] as number;
        cells[2 * hole + 1] = cells[2 * cell + 1] as number;
        hole = cell;
      }
      cells[2 * hole + 1] = 0;
      keys[slot] = '';
      freeSlots.push(slot);
    },
  };

  function fill(hash: number, slot: number): void {
    let cell = hash & mask;
    while (cells[2 * cell + 1] !== 0) cell = (cell + 1) & mask;
    cells[2 * cell] = hash;
    cells[2 * cell + 1] = slot + 1;
  }

  /** When all slots are used. */
  function growTable(): void {
    const slots = hashes.length;
    hashes = grow(hashes, 2 * slots);
    cells = new Int32Array(2 * cells.length);
    mask = cells.length / 2 - 1;
    for (let slot = 0; slot < slots; slot += 1) fill(hashes[slot] as number, slot);
  }
}

/** Random, so that nobody can choose keys whose hashes are the same. Odd. */
const multiplier = 2 * randomInt(2 ** 30) + 1;

function hashText(key: string): number {
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash + key.charCodeAt(index) + 1, multiplier);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
