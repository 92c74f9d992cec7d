// Words in Thai. cspell:ignore งบินกลับบ้าน งบิน

import { constantFrom, integer, oneof, property, assert as prove, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countWords } from '../../src/base/words.ts';
import { cutAtSentenceEnd, splitSentences } from '../../src/essay-service/sentences.ts';

describe('splitSentences', () => {
  it.each([
    ['not at an abbreviation or an initial', ['Dr. Smith met J. Doe, e.g. at noon.', 'They spoke.']],
    ['not at a list number', ['1. First of all.', '2. Then.']],
    ['at a year', ['It was built in 1911.', 'It stands.']],
  ])('ends a sentence %s', (_, sentences) => {
    for (const separator of [' ', '\n']) expect(splitSentences(sentences.join(separator))).toEqual(sentences);
  });
});

describe('cutAtSentenceEnd', () => {
  const essay =
    'A Title\n\nThe first sentence is here. The second one follows!\n\nA new paragraph: does it go on? It does.';

  it.each([
    ['the whole text within the limit', essay, 100, essay],
    ['the whole text at the limit', essay, countWords(essay), essay],
    ['the last whole sentence, with the paragraphs', essay, 18, essay.replace(' It does.', '')],
    ['the last whole paragraph', essay, 12, essay.replace(/\n\nA new.*/, '')],
    ['a word and an ellipsis, as a heading is not a sentence', essay, 4, 'A Title\n\nThe first…'],
    ['a word without its comma', 'one, two, three', 2, 'one, two…'],
    ['a list item', 'Two things.\n- one of them\n- the other of them', 8, 'Two things.\n- one of them'],
    ['a sentence of a script without spaces', '蜜蜂飞。它们在城市里飞。', 4, '蜜蜂飞。'],
    ['a character of a script without spaces, and an ellipsis', '它们在城市里飞，然后回家。', 3, '它们在城市里飞…'],
    ['a word of a script without spaces between words', 'ผึ้งบินกลับบ้าน', 2, 'ผึ้งบิน…'],
    ['a list item, not a number', 'Two things.\n1. One of them.\n2. The other.', 6, 'Two things.\n1. One of them.'],
  ])('ends with %s', (_, text, limit, expected) => {
    expect(cutAtSentenceEnd(text, limit)).toBe(expected);
  });

  const withoutSpaces = constantFrom('蜜', '飞', 'ミ', 'ผ', 'ึ', '้', '。', ' ', '\n', 'a', '-');

  it('never exceeds the limit and never returns an empty text for any other', () => {
    prove(
      property(
        oneof(string({ unit: 'grapheme', maxLength: 300 }), string({ unit: withoutSpaces, maxLength: 100 })),
        integer({ min: 1, max: 60 }),
        (text, limit) => {
          const cut = cutAtSentenceEnd(text, limit);
          expect(countWords(cut)).toBeLessThanOrEqual(limit);
          expect(cut === '').toBe(text.trim() === '');
        },
      ),
    );
  });
});
