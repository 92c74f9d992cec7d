import { hash } from 'node:crypto';
import type { Answer } from './answer.ts';

/**
 * The answers by IBAN, for millions of them: each takes 16 bytes, in a table of which a third to two thirds are in use. Equal
 * answers are kept once. An IBAN is known by its fingerprint, 96 bits of its SHA-256.
 */
export interface AnswerTable {
  get(fingerprint: Buffer): Answer | null;
  set(fingerprint: Buffer, answer: Answer): void;
  size(): number;
}

export function fingerprintOf(iban: string): Buffer {
  return hash('sha256', iban, 'buffer').subarray(0, fingerprintBytes);
}

export const fingerprintBytes = 12;
const wordsPerKey = fingerprintBytes / 4;
/** The key and the position of the answer, from 1; 0: the slot is empty. */
const wordsPerSlot = wordsPerKey + 1;

export function createAnswerTable(): AnswerTable {
  const answers: Answer[] = [];
  const positions = new Map<string, number>();
  let slots = 4_096;
  let words = new Uint32Array(slots * wordsPerSlot);
  let size = 0;

  function intern(answer: Answer): number {
    const key = JSON.stringify(answer);
    const known = positions.get(key);
    if (known !== undefined) return known;
    answers.push(answer);
    positions.set(key, answers.length);
    return answers.length;
  }

  /** The start of the slot that has the key, or of the empty one where it belongs. */
  function find(key: Uint32Array, from: number): number {
    for (let slot = (key[from] ?? 0) % slots; ; slot = (slot + 1) % slots) {
      const start = slot * wordsPerSlot;
      if (words[start + wordsPerKey] === 0 || isSame(start, key, from)) return start;
    }
  }

  function isSame(start: number, key: Uint32Array, from: number): boolean {
    for (let word = 0; word < wordsPerKey; word += 1) if (words[start + word] !== key[from + word]) return false;
    return true;
  }

  function write(key: Uint32Array, from: number, position: number): void {
    const start = find(key, from);
    words.set(key.subarray(from, from + wordsPerKey), start);
    words[start + wordsPerKey] = position;
  }

  function grow(): void {
    const before = words;
    slots *= 2;
    words = new Uint32Array(slots * wordsPerSlot);
    for (let start = 0; start < before.length; start += wordsPerSlot) {
      const position = before[start + wordsPerKey] ?? 0;
      if (position > 0) write(before, start, position);
    }
  }

  return {
    get(fingerprint) {
      const position = words[find(toWords(fingerprint), 0) + wordsPerKey] ?? 0;
      return answers[position - 1] ?? null;
    },
    set(fingerprint, answer) {
      const key = toWords(fingerprint);
      const isNew = words[find(key, 0) + wordsPerKey] === 0;
      write(key, 0, intern(answer));
      if (!isNew) return;
      size += 1;
      if (size * 3 > slots * 2) grow();
    },
    size: () => size,
  };
}

function toWords(fingerprint: Buffer): Uint32Array {
  const words = new Uint32Array(wordsPerKey);
  for (let word = 0; word < wordsPerKey; word += 1) words[word] = fingerprint.readUInt32LE(word * 4);
  return words;
}
