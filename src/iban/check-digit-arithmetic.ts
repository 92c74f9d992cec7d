import { append, valueAt } from './mod97.ts';

/** Which edits of a text make its check digits right, computed without creating the edited texts. */
export interface CheckDigitArithmetic {
  /**
   * The characters that make them right at an index, in place of the `removed` characters (0 or 1) that are there: at
   * most one digit and one letter.
   */
  findCharacters: (at: number, removed: number) => readonly string[];
  /** Whether they may be right after the character at an index is swapped with the next one. */
  maySwap: (at: number) => boolean;
}

/**
 * The check digits are right if the BBAN, followed by country code and check digits, leaves the remainder 1 modulo 97.
 * An edit changes that text at one place, so the remainder of the characters before the place and the one that those
 * after it require are computed once for all edits. An illegal character makes them NaN, which equals nothing.
 */
export function createCheckDigitArithmetic(text: string): CheckDigitArithmetic {
  const remainders = computeRemainders(text, bbanStart);
  // A character that is inserted before the BBAN moves the last check digit into it.
  const remaindersOfShifted = computeRemainders(text, bbanStart - 1);

  const findCharacters = (at: number, removed: number) => {
    const isShifted = at < bbanStart && removed === 0;
    const { before, required } = isShifted ? remaindersOfShifted : remainders;
    const place = placeOf(at, isShifted ? bbanStart - 1 : bbanStart);
    const [head = Number.NaN, tail = Number.NaN] = [before[place], required[place + removed]];
    const digit = digits[modulo97(tail - head * 10)];
    const letter = letters[modulo97(tail - head * 100) - 10];
    return [digit, letter].filter((character) => character !== undefined);
  };

  const maySwap = (at: number) => {
    // The last check digit and the first character of the BBAN are no neighbours there; they are tried.
    if (at === bbanStart - 1) return true;
    const place = placeOf(at, bbanStart);
    const swapped = append(append(remainders.before[place] ?? Number.NaN, valueAt(text, at + 1)), valueAt(text, at));
    return swapped === remainders.required[place + 2];
  };
  return { findCharacters, maySwap };

  /** Where an index of the text is in the rearranged one. */
  function placeOf(at: number, start: number): number {
    return at - start + (at < bbanStart ? text.length : 0);
  }
}

/** By index in the rearranged text: the BBAN, followed by the characters before it. */
interface Remainders {
  /** Of the characters before the index. */
  before: readonly number[];
  /** That the characters before the index must leave, so that the whole text leaves 1. */
  required: readonly number[];
}

function computeRemainders(text: string, start: number): Remainders {
  const rearranged = text.slice(start) + text.slice(0, start);
  const before = [0];
  for (let at = 0; at < rearranged.length; at += 1) before.push(append(before[at] ?? 0, valueAt(rearranged, at)));
  const required = [1];
  for (let at = rearranged.length - 1; at >= 0; at -= 1) {
    required.push(removeLast(required.at(-1) ?? 1, valueAt(rearranged, at)));
  }
  return { before, required: required.reverse() };
}

const digits = [...'0123456789'];
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const bbanStart = 4;

/** The inverse of `append`: modulo 97, 10 * 68 and 100 * 65 leave 1. */
function removeLast(remainder: number, value: number): number {
  return modulo97((remainder - value) * (value < 10 ? 68 : 65));
}

function modulo97(number: number): number {
  return ((number % 97) + 97) % 97;
}
