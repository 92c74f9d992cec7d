/** A whole number from 0 up to and with `most`. */
export type Draw = (most: number) => number;

/** Draws the same numbers for the same seed (mulberry32). */
export function createDraw(seed: number): Draw {
  let state = seed;
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % (most + 1);
  };
}
