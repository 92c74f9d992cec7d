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
    const key = toWords(fingerprint);
    for (const table of this.#tables) {
      const number = table[this.#find(table, key) + wordsPerKey] ?? 0;
      if (number > 0) return number;
    }
    return null;
  }

  set(fingerprint: string, number: number): void {
    const key = toWords(fingerprint);
    const table = this.#tables.find((each) => each[this.#find(each, key) + wordsPerKey] !== 0) ?? this.#takePlace();
    table.set([...key, number], this.#find(table, key));
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
  #find(table: Uint32Array, [first = 0, second, third]: readonly number[]): number {
    const slots = table.length / wordsPerSlot;
    for (let slot = Math.imul(first, this.#factor) >>> (Math.clz32(slots) + 1); ; slot = (slot + 1) % slots) {
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
const firstSlots = 1_024;
const maxSlots = 131_072;

function toWords(fingerprint: string): readonly [number, number, number] {
  const word = (index: number) =>
    Number.parseInt(fingerprint.slice(index * digitsPerWord, (index + 1) * digitsPerWord), 16);
  return [word(0), word(1), word(2)];
}
