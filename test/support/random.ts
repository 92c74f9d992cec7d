import fc from 'fast-check';

/** A whole number from 0 to `max`, both included. */
export type Random = (max: number) => number;

/** Returns the same numbers for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  return (max) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % (max + 1);
  };
}

/** How often something random is tried: `.ci/run` multiplies it with TEST_ROUNDS. */
export function rounds(count: number): number {
  return count * Number(process.env.TEST_ROUNDS ?? 1);
}

const codePoints = fc.oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }));

/**
 * Any character, as a unit of `fc.string`. The unit `binary` takes each process two seconds of CPU time, and keeps a map of
 * all characters.
 */
export const anyCharacter = codePoints.map((codePoint) => String.fromCodePoint(codePoint), readCodePoint);

/** Finds what a text was made from, so that `fc.string` shrinks it, and also tries names such as `__proto__`. */
function readCodePoint(text: unknown): number {
  const [character, ...others] = typeof text === 'string' ? text : '';
  const codePoint = character?.codePointAt(0);
  if (codePoint === undefined || others.length > 0) throw new Error('not one character');
  return codePoint;
}
