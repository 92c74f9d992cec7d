import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isValidIban } from '../../src/iban/iban.ts';
import { suggestIbans } from '../../src/iban/suggest-ibans.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };
import { anyIban, DIGITS, LETTERS } from './any-iban.ts';

const ORIGINAL = 'DE89370400440532013000';
const ALL = { limit: Number.POSITIVE_INFINITY };

const anyCharacter = fc.constantFrom(...DIGITS, ...LETTERS, '$', 'ß', '?');

/** Whatever one slip of the finger, the eye or the ear can make of a text. */
const slips: Readonly<Record<string, (text: string, at: number, character: string) => string>> = {
  'one wrong character': (text, at, character) => text.slice(0, at) + character + text.slice(at + 1),
  'two neighbours swapped': (text, at) =>
    text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2),
  'one missing character': (text, at) => text.slice(0, at) + text.slice(at + 1),
  'one doubled character': (text, at) => text.slice(0, at + 1) + text.slice(at),
  'one character too many': (text, at, character) => text.slice(0, at) + character + text.slice(at),
};

describe('after a slip', () => {
  it.each(Object.entries(slips))('%s: the original is among all candidates', (_, slip) => {
    fc.assert(
      fc.property(anyIban, fc.nat(), anyCharacter, (iban, position, character) => {
        const text = slip(iban, position % iban.length, character);
        fc.pre(!isValidIban(text));
        expect(suggestIbans(text, ALL)).toContain(iban);
      }),
      { numRuns: 300 },
    );
  });

  it('every candidate is valid, another text, and there once', () => {
    const anySlip = fc.constantFrom(...Object.values(slips));
    fc.assert(
      fc.property(anyIban, anySlip, fc.nat(), anyCharacter, (iban, slip, position, character) => {
        const text = slip(iban, position % iban.length, character);
        const candidates = suggestIbans(text, ALL);
        expect(candidates.filter((candidate) => !isValidIban(candidate) || candidate === text)).toEqual([]);
        expect(new Set(candidates).size).toBe(candidates.length);
        for (const candidate of candidates) expect(Math.abs(candidate.length - text.length)).toBeLessThanOrEqual(1);
        expect(suggestIbans(text)).toEqual(candidates.slice(0, 5));
      }),
    );
  });

  it.each(vectors.invalid)('$iban yields valid IBANs or none', ({ iban }) => {
    expect(suggestIbans(iban).filter((candidate) => !isValidIban(candidate))).toEqual([]);
  });
});

describe('suggestIbans', () => {
  it('answers every valid neighbour', () => {
    expect(suggestIbans('DE89370400440532013001')).toEqual(['DE89370400420532013001', ORIGINAL]);
  });

  it.each([
    ['the letter O for a nought', 'DE8937O400440532013000'],
    ['the letter I for a one', 'DE893704004405320I3000'],
    ['swapped neighbours', 'DE89370400440523013000'],
    ['swapped neighbours across the check digits', 'DE83970400440532013000'],
    ['a wrong letter in the country code', 'DX89370400440532013000'],
    ['a missing letter of the country code', 'E89370400440532013000'],
    ['a swapped country code', 'ED89370400440532013000'],
    ['a wrong check digit', 'DE88370400440532013000'],
    ['a missing digit', 'DE8937040044053201300'],
    ['a digit too many', 'DE893704004405320130000'],
    ['a character that no IBAN has', 'DE89370400440532013.00'],
    ['such a character in the country code', 'D?89370400440532013000'],
    ['such a character in the check digits', 'DE8?370400440532013000'],
  ])('undoes %s', (_, text) => {
    expect(suggestIbans(text)).toContain(ORIGINAL);
  });

  // The other answer of each is a plain substitution, loss or addition, and stands further left in the text.
  it.each([
    ['swapped neighbours', 'DE77784754610278182316', ['DE77784754610278183216', 'DE77784754610279182316']],
    ['a look-alike', 'DE12809091211977346487', ['DE12809091211917346487', 'DE19809091211977346487']],
    ['a doubled digit', 'DE647798432583958443657', ['DE64779843258395843657', 'DE64779843258958443657']],
    ['one digit of two alike', 'DE8812575842621452376', ['DE88125758426214523776', 'DE88125758426261452376']],
  ])('puts %s first, as the likelier slip', (_, text, ibans) => {
    expect(suggestIbans(text)).toEqual(ibans);
  });

  it.each([
    ['a valid IBAN', ORIGINAL],
    ['nothing', ''],
    ['a country code', 'DE'],
    ['two wrong check digits', 'DE00370400440532013000'],
    ['two characters that no IBAN has', 'DE8937040044053201?.00'],
    ['a text of an unknown country', 'ZZ89370400440532013000'],
    ['a text that is much too long', ORIGINAL.repeat(1_000)],
    ['a text that is two characters short', 'DE893704004405320130'],
  ])('suggests nothing for %s', (_, text) => {
    expect(suggestIbans(text, ALL)).toEqual([]);
  });

  it('puts known banks first, and asks about valid IBANs only', () => {
    const asked: string[] = [];
    const isKnownBank = (country: string, bankCode: string) => {
      asked.push(`${country} ${bankCode}`);
      return bankCode === '37040044';
    };
    expect(suggestIbans('DE89370400440532013001', { isKnownBank })).toEqual([ORIGINAL, 'DE89370400420532013001']);
    expect(asked).toEqual(['DE 37040042', 'DE 37040044']);
  });

  it('limits what it suggests after putting it in order', () => {
    const isKnownBank = (_: string, bankCode: string) => bankCode === '37040044';
    expect(suggestIbans('DE89370400440532013001', { isKnownBank, limit: 1 })).toEqual([ORIGINAL]);
    expect(suggestIbans('DE89370400440532013001', { limit: 0 })).toEqual([]);
  });
});
