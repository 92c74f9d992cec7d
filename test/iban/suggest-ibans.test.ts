import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isValidIban } from '../../src/iban/iban.ts';
import { suggestIbans } from '../../src/iban/suggest-ibans.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };
import { anyIban, digits, letters } from '../support/ibans.ts';

const original = 'DE89370400440532013000';
const all = { limit: Number.POSITIVE_INFINITY };

const anyCharacter = fc.oneof(fc.constantFrom(...digits, ...letters), fc.constantFrom('$', 'ß', '?'));
/** As often in the country code and the check digits as elsewhere. */
const anyPosition = fc.oneof(fc.nat(3), fc.nat());

/** Typos, by name. */
const typos: Readonly<Record<string, (text: string, at: number, character: string) => string>> = {
  'one wrong character': (text, at, character) => text.slice(0, at) + character + text.slice(at + 1),
  'two neighbours swapped': (text, at) =>
    text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2),
  'one missing character': (text, at) => text.slice(0, at) + text.slice(at + 1),
  'one doubled character': (text, at) => text.slice(0, at + 1) + text.slice(at),
  'one character too many': (text, at, character) => text.slice(0, at) + character + text.slice(at),
};

describe('suggestIbans', () => {
  it('suggests those with the right national check digits first', () => {
    expect(suggestIbans('BE68039007547034')[0]).toBe('BE68539007547034');
  });

  it.each(Object.entries(typos))('suggests after %s the same as trying every edit', (_, typo) => {
    fc.assert(
      fc.property(anyIban, anyPosition, anyCharacter, (iban, position, character) => {
        const text = typo(iban, position % iban.length, character);
        fc.pre(!isValidIban(text));
        const suggestions = suggestIbans(text, all);
        expect(suggestions).toContain(iban);
        const [exchanged, edited] = partition(suggestions, tryEveryEdit(text));
        expect(edited).toEqual(tryEveryEdit(text));
        expect(exchanged.map(readAsDigits)).toEqual(exchanged.map(() => readAsDigits(text)));
        expect(suggestIbans(text)).toEqual(suggestions.slice(0, 5));
      }),
    );
  });

  it.each(vectors.invalid)('suggests valid IBANs or none for $iban', ({ iban }) => {
    expect(suggestIbans(iban).filter((suggestion) => !isValidIban(suggestion))).toEqual([]);
  });

  // The other suggestion of each corrects a less likely typo further left in the text.
  it.each([
    ['swapped neighbours', 'DE77784754610278182316', ['DE77784754610278183216', 'DE77784754610279182316']],
    ['a look-alike', 'DE12809091211977346487', ['DE12809091211917346487', 'DE19809091211977346487']],
    ['a doubled digit', 'DE647798432583958443657', ['DE64779843258395843657', 'DE64779843258958443657']],
    ['a missing double', 'DE8812575842621452376', ['DE88125758426214523776', 'DE88125758426261452376']],
  ])('suggests the correction of %s first', (_, text, ibans) => {
    expect(suggestIbans(text)).toEqual(ibans);
  });

  it.each([
    ['a valid IBAN', original],
    ['an empty text', ''],
    ['a country code', 'DE'],
    ['two wrong check digits', 'DE00370400440532013000'],
    ['two characters that no IBAN has', 'DE8937040044053201?.00'],
    ['a text of an unknown country', 'ZZ89370400440532013000'],
    ['a text that is much too long', original.repeat(1_000)],
    ['a text that is two characters short', 'DE893704004405320130'],
  ])('suggests nothing for %s', (_, text) => {
    expect(suggestIbans(text, all)).toEqual([]);
  });

  it.each([
    ['O for 0', 'DE8937O4OO44O532O13OOO', original],
    ['I for 1 and O for 0, in the check digits too', 'NL9IABNAO4I7I643OO', 'NL91ABNA0417164300'],
    ['0 for O and 1 for I in letters', '1T60X0542811101000000123456', 'IT60X0542811101000000123456'],
    ['O for 0, also where letters are allowed', 'FR142OO4IOIOO5O5OOOI3MO26O6', 'FR1420041010050500013M02606'],
  ])('suggests the IBAN that was meant by %s', (_, text, iban) => {
    expect(suggestIbans(text)).toEqual([iban]);
  });

  it('keeps O and I where letters are allowed, if no digit was meant elsewhere', () => {
    const iban = 'MT31MALT01100000000000000000OI1';
    expect(suggestIbans(`${iban.slice(0, 2)}00${iban.slice(4)}`, all)).toEqual([]);
  });

  it('suggests known banks first, and looks up valid IBANs only', () => {
    const lookedUp: string[] = [];
    const isKnownBank = (country: string, bankCode: string) => {
      lookedUp.push(`${country} ${bankCode}`);
      return bankCode === '37040044';
    };
    expect(suggestIbans('DE89370400440532013001', { isKnownBank })).toEqual([original, 'DE89370400420532013001']);
    expect(lookedUp).toEqual(['DE 37040042', 'DE 37040044']);
    // It sorts before it applies the limit.
    expect(suggestIbans('DE89370400440532013001', { isKnownBank, limit: 1 })).toEqual([original]);
    expect(suggestIbans('DE89370400440532013001', { limit: 0 })).toEqual([]);
  });
});

/** Those that are not in the other list, and those that are, sorted. */
function partition(texts: readonly string[], others: readonly string[]): [string[], string[]] {
  const isAmong = (text: string) => others.includes(text);
  return [texts.filter((text) => !isAmong(text)), texts.filter(isAmong).toSorted()];
}

function readAsDigits(text: string): string {
  return text.replaceAll('O', '0').replaceAll('I', '1');
}

/** The valid IBANs among all texts that are one edit away, sorted. */
function tryEveryEdit(text: string): string[] {
  const found = new Set<string>();
  const tryText = (before: string, inserted: string, after: string) => {
    if (isValidIban(before + inserted + after)) found.add(before + inserted + after);
  };
  for (let at = 0; at <= text.length; at += 1) {
    const [before, current, next] = [text.slice(0, at), text.charAt(at), text.charAt(at + 1)];
    tryText(before, next + current, text.slice(at + 2));
    tryText(before, '', text.slice(at + 1));
    for (const inserted of [...digits, ...letters]) {
      tryText(before, inserted, text.slice(at));
      tryText(before, inserted, text.slice(at + 1));
    }
  }
  return [...found].toSorted();
}
