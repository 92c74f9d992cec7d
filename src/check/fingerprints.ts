import { hash, randomInt } from 'node:crypto';

/** 96 bits of the SHA-256 of a text. */
export function fingerprintOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, wordsPerKey * digitsPerWord);
}

/**
 * A map from texts to numbers from 1 to 2³² - 1, for millions of them: 21 bytes for each, where a `Map` needs about a hundred. A text is
 * known by its fingerprint only.
 */
export class FingerprintMap {
  size = 0;
  /** Each is larger than the one before, up to a limit: to move a million numbers at once would block the process. */
  readonly #tables: Uint32Array[] = [];
  /** How many more numbers the last table takes: more would need long searches. */
  #free = 0;
  /** Odd, and secret, so that no file can choose its slots. */
  readonly #factor = 2 * randomInt(2 ** 31) + 1;

  get(fingerprint: string): number | null {
    const [table, place] = this.#search(toWords(fingerprint));
    return table === null ? null : (table[place + wordsPerKey] ?? null);
  }

  set(fingerprint: string, number: number): void {
    const key = toWords(fingerprint);
    const [found, place] = this.#search(key);
    if (found !== null) found[place + wordsPerKey] = number;
    else this.#insert(key, number);
  }

  /** Sets the number unless the text has one already. @returns the earlier number; null if there was none */
  add(fingerprint: string, number: number): number | null {
    const key = toWords(fingerprint);
    const [found, place] = this.#search(key);
    if (found !== null) return found[place + wordsPerKey] ?? null;
    this.#insert(key, number);
    return null;
  }

  #insert(key: Key, number: number): void {
    const table = this.#takePlace();
    const start = this.#find(table, key);
    table[start] = key[0];
    table[start + 1] = key[1];
    table[start + 2] = key[2];
    table[start + wordsPerKey] = number;
  }

  /** The table that has a key, and where; null if none has it. */
  #search(key: Key): [table: Uint32Array | null, place: number] {
    for (const table of this.#tables) {
      const place = this.#find(table, key);
      if (table[place + wordsPerKey] !== 0) return [table, place];
    }
    return [null, 0];
  }

  #takePlace(): Uint32Array {
    if (this.#free === 0) {
      const slots = Math.min(firstSlots << this.#tables.length, maxSlots);
      this.#tables.push(new Uint32Array(slots * wordsPerSlot));
      this.#free = slots * 0.75;
    }
    this.#free -= 1;
    this.size += 1;
    return this.#tables.at(-1) as Uint32Array;
  }

  /** Where the slot begins that has the key, or the first empty one from the slot of the key on. */
  #find(table: Uint32Array, key: Key): number {
    const slots = table.length / wordsPerSlot;
    const first = key[0];
    const second = key[1];
    const third = key[2];
    // The number of slots is a power of two.
    for (let slot = Math.imul(first, this.#factor) >>> (Math.clz32(slots) + 1); ; slot = (slot + 1) & (slots - 1)) {
      const start = slot * wordsPerSlot;
      if (table[start + wordsPerKey] === 0) return start;
      if (table[start] === first && table[start + 1] === second && table[start + 2] === third) return start;
    }
  }
}

/** A word has 32 bits. */
const wordsPerKey = 3;
const digitsPerWord = 8;
/** The key and its number; 0: the slot is empty. */
const wordsPerSlot = wordsPerKey + 1;
const firstSlots = 16_384;
const maxSlots = 262_144;

type Key = readonly [number, number, number];

function toWords(fingerprint: string): Key {
  const word = (index: number) =>
    Number.parseInt(fingerprint.slice(index * digitsPerWord, (index + 1) * digitsPerWord), 16);
  return [word(0), word(1), word(2)];
}
