import { asyncProperty, constantFrom, integer, oneof, assert as prove, string } from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { countWords } from '../../src/base/words.ts';
import { createDraftingWriter } from '../../src/essay-service/drafting-writer.ts';
import type { WritingMode } from '../../src/essay-service/writing-order.ts';
import { anyCharacter, rounds } from '../support/random.ts';

const writingModes: readonly WritingMode[] = ['Standard', 'Academic', 'Professional', 'Journalistic', 'Detailed'];
const remoteWork = 'Remote work: productivity, loneliness and city budgets.';

const draft = (description: string, mode: WritingMode, wordCount: number) =>
  createDraftingWriter().write({ description, mode, wordCount }, new AbortController().signal);

/** Finds mistakes that a proofreader would mark in any text. */
function expectCleanProse(text: string) {
  expect(text).not.toMatch(/[,;:]\s*[.,;:]|\.\.| [,.;:!?]| {2}|\{|\}|undefined|null/);
  for (const paragraph of text.split('\n\n').slice(1)) {
    expect(paragraph).toMatch(/^["“]?[\p{Lu}\p{N}]/u);
    expect(paragraph).toMatch(/[.!?…]["”]?$/);
  }
}

/** Without the full stops of its names in quotation marks. */
function listSentences(text: string): string[] {
  return text
    .replaceAll('\n\n', '. ')
    .split(/(?<=[.!?])\s+/)
    .filter((sentence) => sentence !== '');
}

describe('a draft of three points', () => {
  it.each(writingModes)(
    'in mode %s has a title, an introduction, the points, a conclusion and its ending',
    async (mode) => {
      const text = await draft(remoteWork, mode, 200);
      const [title, introduction, ...rest] = text.split('\n\n');
      expect(rest).toHaveLength(5);
      expect(title).toBe('Remote work');
      expect(introduction).toMatch(/: Remote work\. .*: “productivity”, “loneliness”, “city budgets”\.$/);
      for (const [at, point] of ['productivity', 'loneliness', 'city budgets'].entries()) {
        expect(rest[at]).toMatch(new RegExp(`^[^.:]+: ${point}\\. `));
      }
      expect(rest[3]).toContain('“Remote work”');
      expect(rest[4]).toBe(
        'This text is a draft made without a language model: it arranges the description and adds no facts.',
      );
      expectCleanProse(text);
    },
  );

  it('differs by mode', async () => {
    const modes = await Promise.all(writingModes.map((mode) => draft(remoteWork, mode, 300)));
    expect(new Set(modes).size).toBe(writingModes.length);
  });
});

describe('the length of a draft', () => {
  const descriptions = [
    'climate',
    remoteWork,
    'Fountain pens: the reservoir that holds the ink, the feed that regulates it, and the nib that writes',
    'Our town closes its library. Children use it after school. It saves 40,000 euros a year. The mayor thanks volunteers.',
    'Should cities ban cars? Discuss noise, "clean air", and shops. Keep the tone formal.',
    'Écrivez un essai sur le télétravail : solitude et argent',
    '钢笔的回归：储墨器、笔舌和笔尖',
  ];
  const lengths = [100, 150, 300, 500, 1_000, 2_000];

  it.each(descriptions)('is at least nine tenths of the order, without a sentence twice: %s', async (description) => {
    for (const wordCount of lengths) {
      for (const mode of writingModes) {
        const text = await draft(description, mode, wordCount);
        expect(countWords(text)).toBeLessThanOrEqual(wordCount);
        expect(countWords(text)).toBeGreaterThanOrEqual(wordCount * 0.9);
        const sentences = listSentences(text);
        expect(new Set(sentences).size).toBe(sentences.length);
        expectCleanProse(text);
      }
    }
  });

  it.each([
    [8, 'Remote work.\n\nDraft made without a language model.'],
    [5, 'Remote work.'],
    [1, 'Remote…'],
  ])('may be %i words', async (wordCount, text) => {
    expect(await draft(remoteWork, 'Standard', wordCount)).toBe(text);
  });
});

describe('a draft', () => {
  it.each([20, 60, 120, 2_000])(
    'of %i words says in its last line that it is a draft without a language model',
    async (wordCount) => {
      const text = await draft('Bees: honey, wax', 'Standard', wordCount);
      expect(text.split('\n').at(-1)).toMatch(/draft made without a language model/i);
    },
  );

  it('contains every sentence of a description with facts, unchanged', async () => {
    const facts = ['Our town closes its library.', 'Children use it after school.', 'It saves 40,000 euros a year.'];
    const text = await draft(facts.join(' '), 'Journalistic', 300);
    for (const fact of facts) expect(text).toContain(fact);
  });

  it('names a clause only in quotation marks', async () => {
    const text = await draft('Our library closes. The mayor thanks volunteers.', 'Journalistic', 2_000);
    expect(text.replaceAll(/“[^”]*”/g, '').match(/The mayor thanks volunteers/g)).toHaveLength(1);
    expect(text).toMatch(/: The mayor thanks volunteers\. /);
  });

  it('contains no number and no name that is not in the description', async () => {
    const text = await draft(remoteWork, 'Journalistic', 2_000);
    expect(text).not.toMatch(/\d/);
    expect(text.match(/(?<=[a-z,] )\p{Lu}\p{L}+/gu)).toBeNull();
  });

  it('of few words mentions only the points that fit', async () => {
    const text = await draft('Bees: honey, wax, pollen, hives, queens, drones, swarms and winter', 'Standard', 30);
    expect(text).toContain('honey');
    expect(text).not.toContain('winter');
    expectCleanProse(text);
  });

  it('is the same with a delay, and written word by word until its request is aborted', async () => {
    const order = { description: 'bees', mode: 'Standard', wordCount: 30 } as const;
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const aborting = new AbortController();
    const write = (signal: AbortSignal) => {
      const parts: string[] = [];
      return {
        parts,
        written: createDraftingWriter({ wordDelayMs: 50 }).write(order, signal, (part) => parts.push(part)),
      };
    };
    const { parts, written } = write(new AbortController().signal);
    const aborted = write(aborting.signal);
    await vi.advanceTimersByTimeAsync(49);
    expect(parts).toEqual([]);
    await vi.advanceTimersByTimeAsync(1 + 2 * 50);
    expect(parts).toHaveLength(3);
    aborting.abort(new Error('the client has disconnected'));
    await expect(aborted.written).rejects.toThrow('the client has disconnected');
    await vi.advanceTimersByTimeAsync(30 * 50);
    const text = await written;
    expect(text).toBe(await draft(order.description, order.mode, order.wordCount));
    expect(parts).toHaveLength(countWords(text));
    expect(parts.join('')).toBe(text);
    expect(aborted.parts).toHaveLength(3);
  });

  it('is not started for an aborted request', async () => {
    const order = { description: 'bees', mode: 'Standard', wordCount: 100 } as const;
    await expect(createDraftingWriter().write(order, AbortSignal.abort())).rejects.toThrow();
  });
});

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
