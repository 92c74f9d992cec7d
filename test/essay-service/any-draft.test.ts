import { asyncProperty, constantFrom, integer, oneof, assert as prove, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countWords } from '../../src/base/words.ts';
import { createDraftingWriter } from '../../src/essay-service/drafting/drafting-writer.ts';
import { type WritingMode, writingModes } from '../../src/essay-service/writing-order.ts';
import { anyCharacter } from '../support/any-character.ts';
import { rounds } from '../support/rounds.ts';

const draft = (description: string, mode: WritingMode, wordCount: number) =>
  createDraftingWriter().write({ description, mode, wordCount }, new AbortController().signal);

describe('any order', () => {
  const pieces =
    'Write an essay about |remote work|: |, | and |. |\n- |\n1. |\n\n|Cover |?|…|“|(|<b>|</b>|**|`|[x](y)|' +
    'Title options: A, B.|Writing purpose: narrative.|🎉|气候| the the |Dr. |it is late|Germany|&amp;|<|-|  ';
  const piece = constantFrom(...pieces.split('|'));
  const description = oneof(
    string({ unit: 'grapheme', maxLength: 400 }),
    string({ unit: anyCharacter, maxLength: 100 }),
    string({ unit: piece, maxLength: 60 }),
  );
  const anyLength = oneof(integer({ min: 1, max: 40 }), integer({ min: 1, max: 2000 }));

  function expectWords(text: string, most: number) {
    const words = countWords(text);
    expect(words >= 1 && words <= most, `${words} of ${most} words`).toBe(true);
  }

  it('results in a draft of 1 to the ordered number of words, always the same', async () => {
    await prove(
      asyncProperty(description, constantFrom(...writingModes), anyLength, async (text, mode, wordCount) => {
        const written = await draft(text, mode, wordCount);
        expectWords(written, wordCount);
        expect(await draft(text, mode, wordCount)).toBe(written);
      }),
      { numRuns: rounds(40) },
    );
  });

  it.each([
    ['without sentences', 'word '.repeat(2_000)],
    ['of commas', 'a, '.repeat(3_400)],
    ['of sentences', 'Bees fly home. They rest! '.repeat(400)],
    ['of brackets', '([<'.repeat(3_400)],
    ['of list items', '- bees\n'.repeat(1_400)],
    ['of tags', '<script>'.repeat(1_250)],
    ['of emoji', '🐝'.repeat(5_000)],
    ['of asterisks', '*a_'.repeat(3_400)],
  ])('may have a description of 10,000 characters %s', async (_how, text) => {
    for (const wordCount of [1, 2, 17, 300, 2000]) {
      expectWords(await draft(text, 'Academic', wordCount), wordCount);
    }
  });
});
