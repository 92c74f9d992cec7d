/** The characters that may be right at an index, in place of the `removed` characters (0 or 1) that are there. */
export type CandidateCharacters = (at: number, removed: number) => readonly string[];

/**
 * Computes which characters make the check digits of an IBAN right, without trying each: at one index of the BBAN at
 * most one digit and one letter leave the remainder 1 modulo 97. The remainders before and after each index are
 * computed once; an illegal character makes them NaN, so that there are no candidates. In the country code all letters
 * are candidates, in the check digits all digits.
 */
export function createCandidateCharacters(iban: string): CandidateCharacters {
  const heads = computeHeads(iban);
  const tails = computeTails(iban);
  return (at, removed) => {
    if (at < bbanStart) return at < checkDigitsStart ? letters : digits;
    const head = heads[at] ?? Number.NaN;
    const { remainder, inverse } = tails[at + removed] ?? { remainder: Number.NaN, inverse: Number.NaN };
    // (head * base + value) * weight + remainder = 1, solved for the value; the base is 10 or, for a letter, 100.
    const value = (1 - remainder) * inverse;
    const digit = digits[modulo97(value - head * 10)];
    const letter = letters[modulo97(value - head * 100) - 10];
    return [digit, letter].filter((character) => character !== undefined);
  };
}

interface Tail {
  remainder: number;
  /** The inverse, modulo 97, of the weight of the character before this tail. */
  inverse: number;
}

const digits = [...'0123456789'];
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const checkDigitsStart = 2;
const bbanStart = 4;

/** By index in the BBAN: the remainder of the characters before it. */
function computeHeads(iban: string): readonly number[] {
  const heads: number[] = [];
  let head = 0;
  for (let at = bbanStart; at <= iban.length; at += 1) {
    heads[at] = head;
    const value = valueAt(iban, at);
    head = (head * (value < 10 ? 10 : 100) + value) % 97;
  }
  return heads;
}

/** By index in the BBAN: the remainder of the characters from there, followed by country code and check digits. */
function computeTails(iban: string): readonly Tail[] {
  const tails: Tail[] = [];
  let [remainder, weight, inverse] = [0, 1, 1];
  const prepend = (value: number) => {
    const isDigit = value < 10;
    remainder = (value * weight + remainder) % 97;
    weight = (weight * (isDigit ? 10 : 100)) % 97;
    // The inverses modulo 97: 10 * 68 and 100 * 65 leave 1.
    inverse = (inverse * (isDigit ? 68 : 65)) % 97;
  };
  for (let at = bbanStart - 1; at >= 0; at -= 1) prepend(valueAt(iban, at));
  for (let at = iban.length; at >= bbanStart; at -= 1) {
    if (at < iban.length) prepend(valueAt(iban, at));
    tails[at] = { remainder, inverse };
  }
  return tails;
}

/** The value of a character, A = 10 to Z = 35; NaN if it is illegal. */
function valueAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 65 && code <= 90 ? code - 55 : Number.NaN;
}

function modulo97(number: number): number {
  return ((number % 97) + 97) % 97;
}
