/** The characters that may be right at an index, in the place of `cut` characters (0 or 1) that stand there. */
export type FittingCharacters = (at: number, cut: number) => readonly string[];

/**
 * The characters that make the check digits of an IBAN right, found without trying any: at one place of the bban at
 * most one digit and one letter leave the remainder 1 modulo 97. What stands before and behind is reduced once for all
 * places, and nothing fits while it is illegal. In front of the bban any letter or, for a check digit, any digit fits.
 */
export function createFittingCharacters(iban: string): FittingCharacters {
  const heads = reduceHeads(iban);
  const tails = reduceTails(iban);
  return (at, cut) => {
    if (at < bban) return at < checkDigits ? letters : DIGITS;
    const head = heads[at] ?? Number.NaN;
    const { remainder, inverse } = tails[at + cut] ?? { remainder: Number.NaN, inverse: Number.NaN };
    // (head * base + value) * weight + remainder = 1, solved for the value; the base is 10 or, for a letter, 100.
    const wanted = (1 - remainder) * inverse;
    const digit = DIGITS[modulo97(wanted - head * 10)];
    const letter = letters[modulo97(wanted - head * 100) - 10];
    return [digit, letter].filter((character) => character !== undefined);
  };
}

interface Tail {
  remainder: number;
  /** What undoes, modulo 97, that so many digits stand behind. */
  inverse: number;
}

const DIGITS = [...'0123456789'];
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Where the check digits begin, and the bban. */
const checkDigits = 2;
const bban = 4;

/** At each index of the bban, the remainder of what stands before it. */
function reduceHeads(iban: string): readonly number[] {
  const heads: number[] = [];
  let head = 0;
  for (let at = bban; at <= iban.length; at += 1) {
    heads[at] = head;
    const value = valueAt(iban, at);
    head = (head * (value < 10 ? 10 : 100) + value) % 97;
  }
  return heads;
}

/** At each index of the bban, the remainder of what stands from there on; country code and check digits come last. */
function reduceTails(iban: string): readonly Tail[] {
  const tails: Tail[] = [];
  let [remainder, weight, inverse] = [0, 1, 1];
  const prepend = (value: number) => {
    const isDigit = value < 10;
    remainder = (value * weight + remainder) % 97;
    weight = (weight * (isDigit ? 10 : 100)) % 97;
    // 10 * 68 and 100 * 65 leave 1.
    inverse = (inverse * (isDigit ? 68 : 65)) % 97;
  };
  for (let at = bban - 1; at >= 0; at -= 1) prepend(valueAt(iban, at));
  for (let at = iban.length; at >= bban; at -= 1) {
    if (at < iban.length) prepend(valueAt(iban, at));
    tails[at] = { remainder, inverse };
  }
  return tails;
}

/** What a character counts, A = 10 to Z = 35; NaN for an illegal one, which then spoils all that it is part of. */
function valueAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 65 && code <= 90 ? code - 55 : Number.NaN;
}

function modulo97(number: number): number {
  return ((number % 97) + 97) % 97;
}
