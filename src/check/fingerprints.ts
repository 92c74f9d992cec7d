import { hash, randomInt } from 'node:crypto';

/** 96 bits of the SHA-256 of a text, as three words of 32 bits. */
export type Fingerprint = readonly [number, number, number];

export function fingerprintOf(text: string): Fingerprint {
  const bytes = hash('sha256', text, 'binary');
  return [readWord(bytes, 0), readWord(bytes, 4), readWord(bytes, 8)];
}

function readWord(bytes: string, at: number): number {
  const [first, second] = [bytes.charCodeAt(at) << 24, bytes.charCodeAt(at + 1) << 16];
  return first | second | (bytes.charCodeAt(at + 2) << 8) | bytes.charCodeAt(at + 3);
}

/** In hexadecimal digits. */
export function printFingerprint(fingerprint: Fingerprint): string {
  return fingerprint.map((word) => (word >>> 0).toString(16).padStart(digitsPerWord, '0')).join('');
}

/** @param printed 24 hexadecimal digits */
export function parseFingerprint(printed: string): Fingerprint {
  const word = (index: number) =>
    Number.parseInt(printed.slice(index * digitsPerWord, (index + 1) * digitsPerWord), 16) | 0;
  return [word(0), word(1), word(2)];
}

const digitsPerWord = 8;

/**
 * A map from texts to numbers from 1 to 2³² - 1, for millions of them: 21 to 32 bytes for each, where a `Map` needs about a hundred. A
 * text is known by its fingerprint only.
 */
export class FingerprintMap {
  size = 0;
  /** Each grows on its own: to move a million numbers at once would block the process. */
  readonly #parts: Part[] = Array.from({ length: partCount }, () => emptyPart);
  /** Odd, and secret, so that no file can choose its slots. */
  readonly #factor = 2 * randomInt(2 ** 31) + 1;

  get(fingerprint: Fingerprint): number | null {
    const hash = this.#hash(fingerprint);
    const { table } = this.#parts[hash >>> slotBits] ?? emptyPart;
    const number = table[findSlot(table, hash, fingerprint) + wordsPerKey] ?? 0;
    return number === 0 ? null : number >>> 0;
  }

  set(fingerprint: Fingerprint, number: number): void {
    const hash = this.#hash(fingerprint);
    const part = this.#parts[hash >>> slotBits] ?? emptyPart;
    const start = findSlot(part.table, hash, fingerprint);
    if (part.table[start + wordsPerKey] !== 0) {
      part.table[start + wordsPerKey] = number;
      return;
    }
    this.size += 1;
    const used = part.used + 1;
    const table = used < (part.table.length / wordsPerSlot) * maxLoad ? part.table : this.#grow(part.table);
    write(table, table === part.table ? start : findSlot(table, hash, fingerprint), fingerprint, number);
    this.#parts[hash >>> slotBits] = { table, used };
  }

  #hash(fingerprint: Fingerprint): number {
    return Math.imul(fingerprint[0], this.#factor);
  }

  /** A larger table with the same content. */
  #grow(table: Int32Array): Int32Array {
    const slots = Math.max(firstSlots, Math.ceil((table.length / wordsPerSlot) * growth));
    const larger = new Int32Array(slots * wordsPerSlot);
    for (let start = 0; start < table.length; start += wordsPerSlot) {
      const number = table[start + wordsPerKey] ?? 0;
      if (number === 0) continue;
      const key: Fingerprint = [table[start] ?? 0, table[start + 1] ?? 0, table[start + 2] ?? 0];
      write(larger, findSlot(larger, this.#hash(key), key), key, number);
    }
    return larger;
  }
}

interface Part {
  table: Int32Array;
  /** Slots that are not empty. */
  used: number;
}

const wordsPerKey = 3;
/** The key and its number; 0: the slot is empty. */
const wordsPerSlot = wordsPerKey + 1;
/** A hash has 32 bits: the first ones say the part, the others the slot. */
const slotBits = 24;
const partCount = 2 ** (32 - slotBits);
const firstSlots = 16;
const growth = 1.5;
/** More would need long searches. */
const maxLoad = 0.75;
const emptyPart: Part = { table: new Int32Array(wordsPerSlot), used: 0 };

/** Where the slot begins that has the key, or the first empty one from the slot of the key on. */
function findSlot(table: Int32Array, hash: number, key: Fingerprint): number {
  const [first, second, third] = key;
  const place = (hash & (2 ** slotBits - 1)) / 2 ** slotBits;
  let start = Math.floor((place * table.length) / wordsPerSlot) * wordsPerSlot;
  while (table[start + wordsPerKey] !== 0) {
    if (table[start] === first && table[start + 1] === second && table[start + 2] === third) return start;
    start += wordsPerSlot;
    if (start === table.length) start = 0;
  }
  return start;
}

function write(table: Int32Array, start: number, [first, second, third]: Fingerprint, number: number): void {
  table[start] = first;
  table[start + 1] = second;
  table[start + 2] = third;
  table[start + wordsPerKey] = number;
}
