import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashBytes, hashCharacters } from '../src/seeded-hash.ts';

describe('the hash of a text', () => {
  it('differs for texts that are equal for any polynomial of their characters', () => {
    // Each is the previous one and its opposite.
    let [text, other] = ['a', 'b'];
    while (text.length < 512) {
      [text, other] = [text + other, other + text];
      if (text.length > 16) expect(hashCharacters(text)).not.toBe(hashCharacters(other));
    }
  });
});

describe('the hash of bytes', () => {
  it('is the same for the same bytes', () => {
    for (const length of [0, 1, 230, 100_000]) {
      const bytes = randomBytes(length);
      expect(hashBytes(Buffer.from(bytes))).toBe(hashBytes(bytes));
    }
  });

  it('differs if any byte does', () => {
    for (const length of [1, 2, 3, 4, 5, 6, 7, 8, 229, 230, 231, 232]) {
      const bytes = randomBytes(length);
      const hashes = new Set([hashBytes(bytes)]);
      for (let index = 0; index < length; index += 1) {
        bytes[index] = (bytes[index] as number) ^ 1;
        hashes.add(hashBytes(bytes));
        bytes[index] = (bytes[index] as number) ^ 1;
      }
      // Two of these few have the same hash once in 150,000 times.
      expect(hashes.size).toBeGreaterThanOrEqual(length);
    }
  });

  it('differs for zeros of another number', () => {
    const hashes = new Set(Array.from({ length: 100 }, (_, length) => hashBytes(new Uint8Array(length))));
    expect(hashes.size).toBeGreaterThanOrEqual(99);
  });

  it('reads a part of many bytes', () => {
    const bytes = randomBytes(1_000_000);
    const hash = hashBytes(bytes);
    for (const index of [4, 5, 100_004, 999_990]) bytes[index] = (bytes[index] as number) ^ 1;
    expect(hashBytes(bytes)).toBe(hash);
    bytes[0] = (bytes[0] as number) ^ 1;
    expect(hashBytes(bytes)).not.toBe(hash);
  });
});
