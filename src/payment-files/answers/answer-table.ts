import { hash } from 'node:crypto';
import type { Answer } from './answer.ts';

/**
 * The answers by IBAN, for millions of them: about 21 bytes for each. Equal answers are kept once.
 * An IBAN is known by its fingerprint, 96 bits of its SHA-256.
 */
export interface AnswerTable {
  get(fingerprint: string): Answer | null;
  set(fingerprint: string, answer: Answer): void;
  size(): number;
}

export function fingerprintOf(iban: string): string {
  return hash('sha256', iban, 'hex').slice(0, wordsPerKey * digitsPerWord);
}

export function isFingerprint(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}

export function createAnswerTable(): AnswerTable {
  const answers: Answer[] = [];
  const positions = new Map<string, number>();
  // A table that grows would be in memory several times until garbage is collected.
  const tables = [new PositionTable()];

  function intern(answer: Answer): number {
    const key = JSON.stringify(answer);
    const known = positions.get(key);
    if (known !== undefined) return known;
    answers.push(answer);
    positions.set(key, answers.length);
    return answers.length;
  }

  function lastTable(): PositionTable {
    const last = tables.at(-1);
    if (last !== undefined && !last.isFull()) return last;
    const added = new PositionTable();
    tables.push(added);
    return added;
  }

  return {
    get(fingerprint) {
      const key = toWords(fingerprint);
      for (const table of tables) {
        const position = table.get(key);
        if (position > 0) return answers[position - 1] ?? null;
      }
      return null;
    },
    set(fingerprint, answer) {
      const key = toWords(fingerprint);
      const table = tables.find((each) => each.get(key) > 0) ?? lastTable();
      table.set(key, intern(answer));
    },
    size: () => tables.reduce((sum, { size }) => sum + size, 0),
  };
}

/** Of 32 bits. */
const wordsPerKey = 3;
const digitsPerWord = 8;
/** The key and the position; 0: the slot is empty. */
const wordsPerSlot = wordsPerKey + 1;

function toWords(fingerprint: string): Uint32Array {
  const words = new Uint32Array(wordsPerKey);
  for (let word = 0; word < wordsPerKey; word += 1) {
    words[word] = Number.parseInt(fingerprint.slice(word * digitsPerWord, (word + 1) * digitsPerWord), 16);
  }
  return words;
}

/** A hash table of fixed size with linear probing: numbers from 1, by fingerprint. */
class PositionTable {
  size = 0;
  readonly #words = new Uint32Array(slots * wordsPerSlot);

  /** 0 if there is none. */
  get(key: Uint32Array): number {
    return this.#words[this.#find(key) + wordsPerKey] ?? 0;
  }

  set(key: Uint32Array, position: number): void {
    const start = this.#find(key);
    if (this.#words[start + wordsPerKey] === 0) this.size += 1;
    for (let word = 0; word < wordsPerKey; word += 1) this.#words[start + word] = key[word] ?? 0;
    this.#words[start + wordsPerKey] = position;
  }

  /** More keys would need long searches. */
  isFull(): boolean {
    return this.size >= slots * 0.75;
  }

  /** The start of the slot that has the key, or of the empty one where it belongs. */
  #find(key: Uint32Array): number {
    for (let slot = (key[0] ?? 0) % slots; ; slot = (slot + 1) % slots) {
      const start = slot * wordsPerSlot;
      if (this.#words[start + wordsPerKey] === 0 || this.#has(key, start)) return start;
    }
  }

  #has(key: Uint32Array, start: number): boolean {
    for (let word = 0; word < wordsPerKey; word += 1) if (this.#words[start + word] !== key[word]) return false;
    return true;
  }
}

/** 2 MB for 98,000 keys. */
const slots = 131_072;
