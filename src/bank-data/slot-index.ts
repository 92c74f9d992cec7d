import { hashCharacters } from '../seeded-hash.ts';
import { grow, PagedColumn } from './columns.ts';

/** Keys, each with a slot: the position of its values in columns. */
export interface SlotIndex {
  /** -1: the key has none. */
  find(key: string): number;
  /** A new slot may be one that a deleted key had. */
  findOrAdd(key: string): number;
  delete(slot: number): void;
}

/**
 * A hash table of numbers, with linear probing. A `Map` whose keys come and go replaces its tables again and again, in the old
 * generation of the heap, and reads the text of a key to compare its hash. Here, a key that is not found usually takes one read
 * from memory, and one that is deleted leaves no garbage but its text.
 * @param slots for which there is room at first, a power of two
 */
export function createSlotIndex(slots: number, hashOf = hashCharacters): SlotIndex {
  const keys = new PagedColumn<string>();
  /** Slots that were ever used. */
  let used = 0;
  const freeSlots: number[] = [];
  let hashes = new Int32Array(slots);
  /** At 2n the hash of a key, and at 2n + 1 its slot plus 1; 0 if the cell is empty. At least half of the cells are empty. */
  let cells = new Int32Array(4 * slots);
  let mask = cells.length / 2 - 1;
  /** A look-up that is not cached asks for its key three times. */
  let lastKey = '';
  let lastHash = hashOf(lastKey);

  return {
    find: (key) => slotIn(cellOf(key, hashOnce(key))),
    findOrAdd(key) {
      const hash = hashOnce(key);
      const known = slotIn(cellOf(key, hash));
      if (known !== -1) return known;
      const slot = freeSlots.pop() ?? newSlot();
      keys.set(slot, key);
      hashes[slot] = hash;
      fillCell(hash, slot);
      return slot;
    },
    delete(slot) {
      let hole = (hashes[slot] as number) & mask;
      while (slotIn(hole) !== slot) hole = (hole + 1) & mask;
      // The keys after it, up to the next empty cell, are found only if no cell on their way is empty.
      for (let cell = (hole + 1) & mask; slotIn(cell) !== -1; cell = (cell + 1) & mask) {
        const probes = (cell - (cells[2 * cell] as number)) & mask;
        if (probes < ((cell - hole) & mask)) continue;
        cells[2 * hole] = cells[2 * cell] as number;
        cells[2 * hole + 1] = cells[2 * cell + 1] as number;
        hole = cell;
      }
      cells[2 * hole + 1] = 0;
      keys.set(slot, null);
      freeSlots.push(slot);
    },
  };

  function hashOnce(key: string): number {
    if (key !== lastKey) {
      lastHash = hashOf(key);
      lastKey = key;
    }
    return lastHash;
  }

  /** The cell of a key, or the empty one at which the search for it ends. */
  function cellOf(key: string, hash: number): number {
    let cell = hash & mask;
    for (let slot = slotIn(cell); slot !== -1; slot = slotIn(cell)) {
      if (cells[2 * cell] === hash && keys.at(slot) === key) break;
      cell = (cell + 1) & mask;
    }
    return cell;
  }

  /** -1: the cell is empty. */
  function slotIn(cell: number): number {
    return (cells[2 * cell + 1] as number) - 1;
  }

  function fillCell(hash: number, slot: number): void {
    let cell = hash & mask;
    while (slotIn(cell) !== -1) cell = (cell + 1) & mask;
    cells[2 * cell] = hash;
    cells[2 * cell + 1] = slot + 1;
  }

  function newSlot(): number {
    if (used === hashes.length) growTable();
    used += 1;
    return used - 1;
  }

  /** When all slots are used. */
  function growTable(): void {
    const slots = hashes.length;
    hashes = grow(hashes);
    cells = new Int32Array(2 * cells.length);
    mask = cells.length / 2 - 1;
    for (let slot = 0; slot < slots; slot += 1) fillCell(hashes[slot] as number, slot);
  }
}
