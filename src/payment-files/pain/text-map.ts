import { randomInt } from 'node:crypto';

/**
 * A map from texts to numbers that stores 64 bits of a hash in place of each text: 24 to 48 bytes per entry, where a `Map` needs
 * more than 100. With a million texts, two of them are confused once in thirty million messages.
 */
export class TextMap {
  #size = 0;
  /** Many small tables, of which one grows at a time: to move a million entries at once would take 50 ms. */
  readonly #tables = Array.from({ length: 256 }, () => createTable(16));
  readonly #seed = randomInt(2 ** 32);

  get size(): number {
    return this.#size;
  }

  /** The number of this text. If it has none, it gets this one (0 to 2³² - 1), and the result is null. */
  getOrSet(text: string, value: number): number | null {
    const [high, low] = hash(text, this.#seed);
    const table = this.#tableOf(high);
    const slot = findSlot(table, high, low);
    if (isUsed(table, slot)) return table.values[slot] ?? null;
    put(table, slot, { high, low, value });
    this.#size += 1;
    if (table.size * 2 > table.values.length) this.#tables[high >>> 24] = grow(table);
    return null;
  }

  /** Changes the number of a text that has one. */
  replace(text: string, value: number): void {
    const [high, low] = hash(text, this.#seed);
    const table = this.#tableOf(high);
    const slot = findSlot(table, high, low);
    if (isUsed(table, slot)) table.values[slot] = value;
  }

  #tableOf(high: number): Table {
    return this.#tables[high >>> 24] as Table;
  }
}

/** Open addressing: an entry is in the slot of its hash, or in the first free one behind. */
interface Table {
  size: number;
  /** Two words of the hash per slot; both are 0 in a free one. */
  hashes: Uint32Array;
  values: Uint32Array;
}

function createTable(capacity: number): Table {
  return { size: 0, hashes: new Uint32Array(2 * capacity), values: new Uint32Array(capacity) };
}

/** The slot with this hash, or the free one where it belongs. */
function findSlot(table: Table, high: number, low: number): number {
  const mask = table.values.length - 1;
  let slot = low & mask;
  while (isUsed(table, slot) && !(table.hashes[2 * slot] === high && table.hashes[2 * slot + 1] === low)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

function isUsed({ hashes }: Table, slot: number): boolean {
  return hashes[2 * slot] !== 0 || hashes[2 * slot + 1] !== 0;
}

function put(table: Table, slot: number, { high, low, value }: { high: number; low: number; value: number }): void {
  table.hashes[2 * slot] = high;
  table.hashes[2 * slot + 1] = low;
  table.values[slot] = value;
  table.size += 1;
}

function grow({ hashes, values }: Table): Table {
  const grown = createTable(values.length * 2);
  for (const [slot, value] of values.entries()) {
    const [high = 0, low = 0] = [hashes[2 * slot], hashes[2 * slot + 1]];
    if (high !== 0 || low !== 0) put(grown, findSlot(grown, high, low), { high, low, value });
  }
  return grown;
}

/** Two independent words (the mixing steps of MurmurHash3), never both 0. The seed is secret, so that no file can choose its slots. */
function hash(text: string, seed: number): readonly [number, number] {
  let one = seed ^ 0xdeadbeef;
  let other = seed ^ 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    one = Math.imul(one ^ code, 2_654_435_761);
    one ^= one >>> 15;
    other = Math.imul(other ^ code, 1_597_334_677);
    other ^= other >>> 13;
  }
  const high = mix(one ^ Math.imul(other, 0x9e3779b1));
  const low = mix(other ^ Math.imul(one, 0x85ebca6b));
  return [high, high === 0 && low === 0 ? 1 : low];
}

function mix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
