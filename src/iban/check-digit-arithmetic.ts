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
  let remaindersOfLonger: Remainders | undefined;

  const findCharacters = (at: number, removed: number) => {
    const isBefore = at < bbanStart;
    // A character that is inserted before the BBAN moves the last check digit into it.
    const start = isBefore ? bbanStart - 1 + removed : bbanStart;
    if (start !== bbanStart) remaindersOfLonger ??= computeRemainders(text, start);
    const { before, required } = (start !== bbanStart && remaindersOfLonger) || remainders;
    const place = at - start + (isBefore ? text.length : 0);
    const [head = Number.NaN, tail = Number.NaN] = [before[place], required[place + removed]];
    const digit = digits[modulo97(tail - head * 10)];
    const letter = letters[modulo97(tail - head * 100) - 10];
    return [digit, letter].filter((character) => character !== undefined);
  };

  const maySwap = (at: number) => {
    // The last check digit and the first character of the BBAN are no neighbours there; they are tried.
    if (at === bbanStart - 1) return true;
    const place = at - bbanStart + (at < bbanStart ? text.length : 0);
    const swapped = append(append(remainders.before[place] ?? Number.NaN, valueAt(text, at + 1)), valueAt(text, at));
    return swapped === remainders.required[place + 2];
  };
  return { findCharacters, maySwap };
}

/** By index in the text whose characters before the BBAN follow it. */
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

/** The value of a character, A = 10 to Z = 35; NaN if it is illegal. */
function valueAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 65 && code <= 90 ? code - 55 : Number.NaN;
}

function append(remainder: number, value: number): number {
  return (remainder * (value < 10 ? 10 : 100) + value) % 97;
}

/** The inverse of `append`: modulo 97, 10 * 68 and 100 * 65 leave 1. */
function removeLast(remainder: number, value: number): number {
  return modulo97((remainder - value) * (value < 10 ? 68 : 65));
}

function modulo97(number: number): number {
  return ((number % 97) + 97) % 97;
}
