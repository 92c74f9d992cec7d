import { randomInt } from 'node:crypto';

/*
 * Hashes of 32 bits for tables in memory. They are different in each process.
 */

const seed = randomInt(2 ** 32) | 0;
/** Odd. */
const multiplier = 2 * randomInt(2 ** 31) + 1;

/** Clients cannot choose texts with equal hashes. */
export function hashCharacters(text: string): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) hash = mix(hash, text.charCodeAt(index));
  return hash;
}

/**
 * Four bytes at a time, which takes half of the time that V8 needs to hash them as a text. Of many bytes, it reads some. Clients
 * can choose bytes with equal hashes: compare the bytes as well, and keep one value per hash.
 */
export function hashBytes(bytes: Uint8Array): number {
  const { length } = bytes;
  const step = 4 * Math.ceil(length / maxBytesRead);
  let hash = mix(seed, length);
  let index = 0;
  for (; index + 3 < length; index += step) {
    const half = byteAt(bytes, index) | (byteAt(bytes, index + 1) << 8);
    hash = mix(hash, half | (byteAt(bytes, index + 2) << 16) | (byteAt(bytes, index + 3) << 24));
  }
  for (; index < length; index += 1) hash = mix(hash, byteAt(bytes, index));
  return hash;
}

const maxBytesRead = 16_384;

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}

/** Without the shift, some values have the same hash whatever the multiplier is. */
function mix(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, multiplier);
  return product ^ (product >>> 15);
}
