import { hash, randomInt } from 'node:crypto';

/** 96 bits of the SHA-256 of a text. */
export function fingerprintOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, wordsPerKey * digitsPerWord);
}

/**
 * A map from texts to numbers from 1 to 2³² - 1, for millions of them: 21 to 43 bytes for each, where a `Map` needs about a hundred. A
 * text is known by its fingerprint only.
 */
export class FingerprintMap {
  size = 0;
  /** The number of slots is a power of two; a quarter of them is empty. */
  #table = new Uint32Array(firstSlots * wordsPerSlot);
  /** Odd, and secret, so that no file can choose its slots. */
  readonly #factor = 2 * randomInt(2 ** 31) + 1;

  get(fingerprint: string): number | null {
    return this.#table[this.#find(toWords(fingerprint)) + wordsPerKey] || null;
  }

  /** Sets the number unless the text has one already. @returns the earlier number; null if there was none */
  add(fingerprint: string, number: number): number | null {
    const key = toWords(fingerprint);
    const place = this.#find(key);
    const earlier = this.#table[place + wordsPerKey] || null;
    if (earlier !== null) return earlier;
    this.#table.set([...key, number], place);
    this.size += 1;
    if (this.size * wordsPerSlot > this.#table.length * 0.75) this.#grow();
    return null;
  }

  #grow(): void {
    const former = this.#table;
    this.#table = new Uint32Array(2 * former.length);
    for (let start = 0; start < former.length; start += wordsPerSlot) {
      if (former[start + wordsPerKey] === 0) continue;
      const slot = former.subarray(start, start + wordsPerSlot);
      this.#table.set(slot, this.#find(slot));
    }
  }

  /** Where the slot begins that has the key, or the first empty one from the slot of the key on. */
  #find(key: Key): number {
    const [first, second, third] = [key[0] ?? 0, key[1], key[2]];
    const table = this.#table;
    const slots = table.length / wordsPerSlot;
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
const firstSlots = 4_096;

type Key = Iterable<number> & { readonly [index: number]: number };

function toWords(fingerprint: string): Key {
  const word = (index: number) =>
    Number.parseInt(fingerprint.slice(index * digitsPerWord, (index + 1) * digitsPerWord), 16);
  return [word(0), word(1), word(2)];
}
