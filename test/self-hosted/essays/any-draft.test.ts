import { asyncProperty, constantFrom, integer, oneof, assert as prove, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDraftingWriter } from '../../../src/self-hosted/essays/drafting/drafting-writer.ts';
import { type EssayMode, essayModes } from '../../../src/self-hosted/essays/essay-writer.ts';
import { countWords } from '../../../src/self-hosted/essays/words.ts';

async function draft(description: string, mode: EssayMode, wordCount: number): Promise<string> {
  return createDraftingWriter().write({ description, mode, wordCount }, new AbortController().signal);
}

describe('whatever the order', () => {
  const piece = constantFrom(
    'Write an essay about ',
    'remote work',
    ': ',
    ', ',
    ' and ',
    '. ',
    '\n- ',
    '\n1. ',
    '\n\n',
    'Cover ',
    '?',
    '…',
    '“',
    '(',
    '<b>',
    '</b>',
    '**',
    '`',
    '[x](y)',
    'Title options: A, B.',
    'Writing purpose: narrative.',
    '🎉',
    '气候',
    ' the the ',
    'Dr. ',
    'it is late',
    'Germany',
    '&amp;',
    '<',
    '-',
    '  ',
  );
  const description = oneof(
    string({ unit: 'grapheme', maxLength: 400 }),
    string({ unit: 'binary', maxLength: 100 }),
    string({ unit: piece, maxLength: 60 }),
  );
  const anything = [description, constantFrom(...essayModes), integer({ min: 1, max: 2000 })] as const;

  it('a draft has at least one word, at most as many as ordered, and is the same every time', async () => {
    await prove(
      asyncProperty(...anything, async (text, mode, wordCount) => {
        const written = await draft(text, mode, wordCount);
        expect(countWords(written)).toBeGreaterThanOrEqual(1);
        expect(countWords(written)).toBeLessThanOrEqual(wordCount);
        expect(await draft(text, mode, wordCount)).toBe(written);
      }),
      { numRuns: 500 },
    );
  });

  it('a small order is kept to as well', async () => {
    await prove(
      asyncProperty(
        description,
        constantFrom(...essayModes),
        integer({ min: 1, max: 40 }),
        async (text, mode, wordCount) => {
          const words = countWords(await draft(text, mode, wordCount));
          expect(words >= 1 && words <= wordCount).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['without an end', 'word '.repeat(2_000)],
    ['of commas', 'a, '.repeat(3_400)],
    ['of sentences', 'Bees fly home. They rest! '.repeat(400)],
    ['of brackets', '([<'.repeat(3_400)],
    ['of list items', '- bees\n'.repeat(1_400)],
    ['of tags', '<script>'.repeat(1_250)],
    ['of emoji', '🐝'.repeat(5_000)],
    ['of asterisks', '*a_'.repeat(3_400)],
  ])('a description of 10,000 characters %s is drafted at every size', async (_how, text) => {
    for (const wordCount of [1, 2, 5, 17, 60, 300, 2000]) {
      const words = countWords(await draft(text, 'Academic', wordCount));
      expect(words >= 1 && words <= wordCount).toBe(true);
    }
  });
});
