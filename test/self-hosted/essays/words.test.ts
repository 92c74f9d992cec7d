import { integer, property, assert as prove, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countWords, cutAtSentenceEnd, splitSentences } from '../../../src/self-hosted/essays/words.ts';

describe('countWords', () => {
  it.each([
    ['', 0],
    [' \n\t ', 0],
    ['one', 1],
    ['  two\u00a0words ', 2],
    ['a – b', 3],
    ['first line\n\nsecond line', 4],
  ])('counts %j as %i', (text, words) => {
    expect(countWords(text)).toBe(words);
  });
});

describe('splitSentences', () => {
  it('does not end a sentence at an abbreviation, an initial or a list number', () => {
    expect(splitSentences('Dr. Smith met J. Doe, e.g. at noon. They spoke.')).toEqual([
      'Dr. Smith met J. Doe, e.g. at noon.',
      'They spoke.',
    ]);
    expect(splitSentences('1. First of all.\n2. Then.')).toEqual(['1. First of all.', '2. Then.']);
  });

  it('ends a sentence at a year', () => {
    expect(splitSentences('It was built in 1911. It stands.')).toEqual(['It was built in 1911.', 'It stands.']);
  });
});

describe('cutAtSentenceEnd', () => {
  const essay =
    'A Title\n\nThe first sentence is here. The second one follows!\n\nA new paragraph: does it go on? It does.';

  it('does not change a text within the limit', () => {
    expect(cutAtSentenceEnd(essay, 100)).toBe(essay);
    expect(cutAtSentenceEnd(essay, countWords(essay))).toBe(essay);
  });

  it('ends with the last whole sentence within the limit and keeps the paragraphs', () => {
    expect(cutAtSentenceEnd(essay, 12)).toBe('A Title\n\nThe first sentence is here. The second one follows!');
    expect(cutAtSentenceEnd(essay, 18)).toBe(
      'A Title\n\nThe first sentence is here. The second one follows!\n\nA new paragraph: does it go on?',
    );
  });

  it('ends with a word and an ellipsis if not even one sentence fits; a heading is not a sentence', () => {
    expect(cutAtSentenceEnd(essay, 4)).toBe('A Title\n\nThe first…');
    expect(cutAtSentenceEnd('one, two, three', 2)).toBe('one, two…');
  });

  it('ends after a whole list item, not after its number', () => {
    expect(cutAtSentenceEnd('Two things.\n- one of them\n- the other of them', 8)).toBe('Two things.\n- one of them');
    expect(cutAtSentenceEnd('Two things.\n1. One of them here.\n2. The other.', 7)).toBe(
      'Two things.\n1. One of them here.',
    );
  });

  it('never exceeds the limit and never returns an empty text for any other', () => {
    prove(
      property(string({ unit: 'grapheme', maxLength: 300 }), integer({ min: 1, max: 60 }), (text, limit) => {
        const cut = cutAtSentenceEnd(text, limit);
        expect(countWords(cut)).toBeLessThanOrEqual(limit);
        expect(cut === '').toBe(text.trim() === '');
      }),
    );
  });
});
