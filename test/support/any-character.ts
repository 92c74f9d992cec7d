import fc from 'fast-check';

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
