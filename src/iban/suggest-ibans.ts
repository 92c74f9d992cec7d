import { isValidIban, parseIban } from './iban.ts';
import { append, valueAt } from './mod97.ts';
import { nationalCheck } from './national-checks.ts';
import { findPastedIban } from './pasted.ts';
import { characterTypes, findCountryFormat } from './registry.ts';

interface SuggestOptions {
  /** Whether a bank list has this bank code in this country; IBANs of known banks come first. */
  isKnownBank?: (country: string, bankCode: string) => boolean;
  /** Maximum number of IBANs. */
  limit?: number;
}

/**
 * Suggests valid IBANs for an invalid compacted text with one typo: a wrong, missing or extra character, or swapped neighbours; or
 * with any number of O for 0 and I for 1, or the reverse. The IBAN that the text contains comes first, then known banks, then the
 * more likely typo. Where there is no such typo, the only suggestion is the one valid IBAN that the text contains, as pasted text
 * may. Empty for a valid IBAN.
 * @example
 * suggestIbans('DE8937O400440532013000') // => ['DE89370400440532013000']
 * suggestIbans('DE89370400440532013001') // => ['DE89370400420532013001', 'DE89370400440532013000']
 */
export function suggestIbans(
  text: string,
  { isKnownBank = () => false, limit = 5 }: SuggestOptions = {},
): readonly string[] {
  if (isValidIban(text)) return [];
  const pasted = findPastedIban(text);
  const corrections = hasSeveralTypos(text) ? [] : [...findCorrections(text)];
  if (corrections.length === 0) return pasted === null ? [] : [pasted];
  return corrections
    .map(([iban, rank]) => {
      const parts = parseIban(iban);
      const isKnown = parts !== null && isKnownBank(parts.countryCode, parts.bankCode);
      const isWrong = nationalCheck(iban) === 'FAILED';
      return { iban, rank, certainty: iban === pasted ? 2 : isWrong ? -1 : Number(isKnown) };
    })
    .sort((one, other) => other.certainty - one.certainty || one.rank - other.rank)
    .slice(0, limit)
    .map(({ iban }) => iban);
}

/** ISO 13616. */
const maxLength = 34;
const countryCodeLength = 2;

/** One typo adds or damages at most one character. */
function hasSeveralTypos(text: string): boolean {
  return text.length > maxLength + 1 || text.replace(/[A-Z0-9]+/g, '').length > 1;
}

/** All valid IBANs one edit away, with the rank of the likeliest edit. */
function findCorrections(text: string): ReadonlyMap<string, number> {
  const length = findCountryFormat(text.slice(0, 2))?.length;
  // An edit of the country code leads to another country, and so to another length.
  const mayGrow = (growth: number, at: number) => at < countryCodeLength || text.length + growth === length;

  const ranks = new Map<string, number>();
  for (const edit of listEdits(text, { mayGrow, ...createCheckDigitArithmetic(text) })) {
    const iban = applyEdit(text, edit);
    if (findCountryFormat(iban.slice(0, 2))?.length !== iban.length || !isValidIban(iban)) continue;
    ranks.set(iban, Math.min(rankEdit(text, edit), ranks.get(iban) ?? Number.POSITIVE_INFINITY));
  }
  for (const iban of exchangeLettersAndDigits(text)) if (isValidIban(iban)) ranks.set(iban, 0);
  return ranks;
}

/**
 * The text with 0 for O and 1 for I where its country requires a digit, and the reverse where it requires a letter. If that changes
 * it, also with digits where both are allowed.
 */
function* exchangeLettersAndDigits(text: string): Generator<string> {
  const country = text.slice(0, countryCodeLength).replace(/[01]/g, (digit) => letterOf[digit] ?? digit);
  const kinds = characterTypes(findCountryFormat(country)?.format ?? '');
  const exchange = (digitKinds: string) => {
    const characters = [...text.slice(countryCodeLength)].map((character, at) => {
      const kind = kinds.charAt(at);
      const other = digitKinds.includes(kind) ? digitOf[character] : kind === 'a' ? letterOf[character] : undefined;
      return other ?? character;
    });
    return country + characters.join('');
  };
  const exchanged = exchange('n');
  if (kinds === '' || exchanged === text) return;
  yield exchanged;
  yield exchange('nc');
}

const digitOf: Readonly<Record<string, string>> = { O: '0', I: '1' };
const letterOf: Readonly<Record<string, string>> = { 0: 'O', 1: 'I' };

/** Replaces `removed` characters at an index by other text. */
interface Edit {
  at: number;
  removed: number;
  inserted: string;
}

interface EditLimits extends CheckDigitArithmetic {
  /** Whether an edit at an index may change the length of the text by -1, 0 or 1. */
  mayGrow: (growth: number, at: number) => boolean;
}

/** The edits that may correct one typo, by index: two neighbours are swapped, or a character is replaced, removed or inserted. */
function* listEdits(text: string, { mayGrow, findCharacters, maySwap }: EditLimits): Generator<Edit> {
  for (let at = 0; at <= text.length; at += 1) {
    const current = text.charAt(at);
    const next = text.charAt(at + 1);
    if (current !== '' && mayGrow(0, at)) {
      if (next !== '' && next !== current && maySwap(at)) yield { at, removed: 2, inserted: next + current };
      for (const inserted of findCharacters(at, 1)) if (inserted !== current) yield { at, removed: 1, inserted };
    }
    if (current !== '' && mayGrow(-1, at)) yield { at, removed: 1, inserted: '' };
    if (mayGrow(1, at)) for (const inserted of findCharacters(at, 0)) yield { at, removed: 0, inserted };
  }
}

function applyEdit(text: string, { at, removed, inserted }: Edit): string {
  return text.slice(0, at) + inserted + text.slice(at + removed);
}

/**
 * How unlikely the typo is that an edit corrects: 0 for swapped neighbours and lookalikes, 1 for a doubled character or
 * a missing double, 2 for another extra or missing character, 3 for any other.
 */
function rankEdit(text: string, { at, removed, inserted }: Edit): number {
  if (removed === 2 || (removed === 1 && areLookAlikes(text.charAt(at), inserted))) return 0;
  if (removed === 1 && inserted !== '') return 3;
  const neighbours = [text.charAt(at - 1), text.charAt(at + removed)];
  return neighbours.includes(inserted || text.charAt(at)) ? 1 : 2;
}

/** Groups of characters that readers confuse. */
const lookAlikes = '0ODQ 1IL 17 2Z 5S 6G 8B UV VY VW MN'.split(' ');

function areLookAlikes(one: string, other: string): boolean {
  return other !== '' && lookAlikes.some((group) => group.includes(one) && group.includes(other));
}

/** Which edits of a text make its check digits right, computed without creating the edited texts. */
interface CheckDigitArithmetic {
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
 * An edit changes that text at one place, so the remainder of the characters before the place and the one that the characters
 * after it require are computed once for all edits. An illegal character makes them NaN, which equals nothing.
 */
function createCheckDigitArithmetic(text: string): CheckDigitArithmetic {
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

/** Remainders modulo 97, by index in the rearranged text: the BBAN, followed by the characters before it. */
interface Remainders {
  /** What the characters before the index leave. */
  before: readonly number[];
  /** What the characters before the index must leave, so that the whole text leaves 1. */
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
