import { describe, expect, it } from 'vitest';
import { readEssayText } from '../../examples/web/src/state/essay-text.ts';
import {
  groupWhileTyping,
  isLabelled,
  isTable,
  readEntries,
  replaceEntry,
  toIbanQuery,
} from '../../examples/web/src/state/iban-text.ts';
import { findPastedIban } from '../../src/iban/pasted.ts';

/** `|` is the caret. */
function group(typed: string, isForward = false): string {
  const { text, caret } = groupWhileTyping({ text: typed.replace('|', ''), caret: typed.indexOf('|') }, isForward);
  return `${text.slice(0, caret)}|${text.slice(caret)}`;
}

describe('groupWhileTyping', () => {
  it.each([
    ['a character at the end', 'DE893|', 'DE89 3|'],
    ['the last character of a group', 'DE89|', 'DE89|'],
    ['a character in the middle, which moves the groups', 'DEX|89 3704', 'DEX|8 9370 4'],
    ['a character behind a full group', 'DE89X| 3704', 'DE89 X|370 4'],
    ['a pasted text in other groups', 'de 8937 0400 4405|', 'de89 3704 0044 05|'],
    ['an empty text', '|', '|'],
    ['a text with other characters, which stays as typed', 'DE89-3704|', 'DE89-3704|'],
    ['a label, which stays as typed', 'IBAN DE893704|', 'IBAN DE893704|'],
  ])('keeps the caret after %s', (_, typed, grouped) => {
    expect(group(typed)).toBe(grouped);
  });

  it('lets both delete keys move over a space', () => {
    // The browser has deleted the space in both.
    expect(group('DE89|3704')).toBe('DE89| 3704');
    expect(group('DE89|3704', true)).toBe('DE89 |3704');
    // Then the characters next to it.
    expect(group('DE8| 3704')).toBe('DE8|3 704');
    expect(group('DE89 |704', true)).toBe('DE89 |704');
  });
});

describe('readEntries', () => {
  it('shows entries as typed and compacts them for the request', () => {
    expect(readEntries(' de89 3704\t\n\nGB29-NWBK;x, ')).toEqual([
      { typed: 'de89 3704', start: 1, iban: 'DE893704' },
      { typed: 'GB29-NWBK', start: 13, iban: 'GB29NWBK' },
      { typed: 'x', start: 23, iban: 'X' },
    ]);
    const long = 'A'.repeat(100);
    expect(readEntries(long)).toEqual([{ typed: long, start: 0, iban: 'A'.repeat(64) }]);
  });
});

describe('a pasted text with one IBAN', () => {
  const iban = 'DE89370400440532013000';
  const printed = 'DE89 3704 0044 0532 0130 00';
  const long = 'Please transfer the amount of 120 EUR by Friday to our account';
  it.each([
    ['a sentence', `Please pay to ${printed}`],
    ['a sentence that begins with it', `${printed} is the account of Anna in Berlin`],
    ['a sentence that ends after it', `Pay to ${printed}. Thank you!`],
    ['a long sentence', `${long} ${printed}`],
    ['a long sentence around it', `${long} ${printed} at the bank in Frankfurt before the end of the month`],
    ['a label', `IBAN: ${iban}`],
  ])('is sent to the gateway, which finds it: %s', (_, text) => {
    const query = toIbanQuery(text);
    expect([query.length <= 64, isLabelled(query), findPastedIban(query)]).toEqual([true, true, iban]);
    expect(readEntries(text).map((entry) => entry.iban)).toEqual([query]);
    expect(group(`${text}|`)).toBe(`${text}|`);
  });

  it('is not looked for in a text with several, or without any', () => {
    expect(findPastedIban(toIbanQuery(`${long} ${printed} or to FR14 2004 1010 0505 0001 3M02 606`))).toBeNull();
    expect([isLabelled(toIbanQuery('Please pay to Anna')), isLabelled(''), isLabelled(iban)]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('isTable', () => {
  it.each([
    ['Name\tIBAN\nAnna\tDE89370400440532013000', true],
    ['DE89370400440532013000;12', true],
    ['DE89370400440532013000; GB29NWBK60161331926819\n', false],
    ['DE89 3704\nAnna\n', false],
  ])('%j: %s', (text, expected) => {
    expect(isTable(text)).toBe(expected);
  });
});

describe('replaceEntry', () => {
  const text = 'BE68539007547034\nBE6853900754703\n  be68539007547034 ';
  const corrected = 'BE68 5390 0754 7034';

  it('replaces the entry at its position, also if another one contains its text', () => {
    const first = replaceEntry({ text, entries: readEntries(text) }, 1, 'BE68539007547034');
    expect(first.text).toBe(text.replace('\nBE6853900754703\n', `\n${corrected}\n`));
    expect(first.entries).toEqual(readEntries(first.text));
    const second = replaceEntry(first, 2, 'BE68539007547034');
    expect(second.text).toBe(`BE68539007547034\n${corrected}\n  ${corrected} `);
  });

  it('leaves a text that the user has changed', () => {
    const changed = `${corrected}\n${text}`;
    const { text: after, entries } = replaceEntry({ text: changed, entries: readEntries(text) }, 1, 'BE68539007547034');
    expect(after).toBe(changed);
    expect(entries[1]).toMatchObject({ typed: corrected, iban: 'BE68539007547034' });
  });
});

describe('readEssayText', () => {
  it.each([
    ['Fountain Pens\n\nThey last.', 'Fountain Pens', 1],
    ['# Why Pens?\nThey last.\n\nThey do.', 'Why Pens?', 2],
    ['They last.\n\nThey do.', null, 2],
    ['Fountain Pens', null, 1],
    [`${'A long line '.repeat(20)}\n\nThey last.`, null, 2],
    ['', null, 0],
  ])('finds the title of %j', (text, title, paragraphs) => {
    const read = readEssayText(text);
    expect(read.title).toBe(title);
    expect(read.paragraphs).toHaveLength(paragraphs);
  });
});
