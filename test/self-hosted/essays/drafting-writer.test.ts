import { describe, expect, it } from 'vitest';
import { createDraftingWriter } from '../../../src/self-hosted/essays/drafting/drafting-writer.ts';
import { type WritingMode, writingModes } from '../../../src/self-hosted/essays/writing-order.ts';
import { countWords } from '../../../src/words.ts';

const remoteWork = 'Write an essay about remote work: productivity, loneliness and city budgets.';

const draft = (description: string, mode: WritingMode, wordCount: number) =>
  createDraftingWriter().write({ description, mode, wordCount }, new AbortController().signal);

/** Finds mistakes that a proofreader would mark in any text. */
function expectCleanProse(text: string) {
  expect(text).not.toMatch(/\b(the|a|an|of|to|in|and|is) \1\b/i);
  expect(text).not.toMatch(/[,;:]\s*[.,;:]|\.\.| [,.;:!?]| {2}|\{|\}|undefined|null/);
  for (const paragraph of text.split('\n\n').slice(1)) {
    expect(paragraph).toMatch(/^["“]?[\p{Lu}\p{N}]/u);
    expect(paragraph).toMatch(/[.!?…]["”]?$/);
  }
}

describe('a draft of three points', () => {
  it.each(writingModes)('in mode %s has title, introduction, a paragraph each, conclusion and length', async (mode) => {
    const text = await draft(remoteWork, mode, 300);
    const [title, introduction, ...rest] = text.split('\n\n');
    expect(rest).toHaveLength(4);
    expect(title).toMatch(/^Remote work/i);
    expect(introduction).toContain('remote work');
    expect(rest[0]).toContain('productivity');
    expect(rest[1]).toContain('loneliness');
    expect(rest[2]).toContain('city budgets');
    expect(countWords(text)).toBeGreaterThanOrEqual(180);
    expectCleanProse(text);
  });

  it.each(writingModes)('in mode %s starts its paragraphs differently and repeats no sentence', async (mode) => {
    const text = await draft(remoteWork, mode, 400);
    const openings = text.split('\n\n').map((paragraph) => paragraph.split(' ').slice(0, 2).join(' '));
    expect(new Set(openings).size).toBe(openings.length);
    const sentences = text.split(/(?<=[.!?])\s+/);
    expect(new Set(sentences).size).toBe(sentences.length);
  });

  it('differs by mode and by purpose', async () => {
    const modes = await Promise.all(writingModes.map((mode) => draft(remoteWork, mode, 300)));
    expect(new Set(modes).size).toBe(4);
    const purposes = ['narrative', 'argumentative', 'expository', 'descriptive'];
    const drafts = await Promise.all(
      purposes.map((one) => draft(`${remoteWork} Writing purpose: ${one}.`, 'Standard', 300)),
    );
    expect(new Set([modes[0], ...drafts]).size).toBe(5);
    for (const text of drafts) expect(text).not.toContain('Writing purpose');
  });

  it('is a news report with a headline and a lead in mode Journalistic', async () => {
    const text = await draft(remoteWork, 'Journalistic', 60);
    expect(text.split('\n\n').slice(0, 2)).toEqual([
      'Remote work: productivity, loneliness and city budgets in focus',
      'When it comes to remote work, three points stand out: productivity, loneliness and city budgets.',
    ]);
  });
});

describe('a draft', () => {
  it('uses the first title option', async () => {
    const text = await draft(`${remoteWork}\n\nTitle options: Far From the Office, Alone.`, 'Academic', 200);
    expect(text.split('\n\n')[0]).toBe('Far From the Office');
    expect(text).not.toMatch(/Title options|Alone/);
  });

  it('contains every sentence of a description with facts, unchanged', async () => {
    const facts = ['Our town closes its library.', 'Children use it after school.', 'It saves 40,000 euros a year.'];
    const text = await draft(facts.join(' '), 'Journalistic', 300);
    for (const fact of facts) expect(text).toContain(fact);
    expectCleanProse(text);
  });

  it('contains no number and no name that is not in the description', async () => {
    const text = await draft(remoteWork, 'Journalistic', 2000);
    expect(text).not.toMatch(/\d/);
    expect(text.match(/(?<=[a-z,] )\p{Lu}\p{L}+/gu)).toBeNull();
  });

  it('of a short description stays short', async () => {
    const text = await draft('climate', 'Standard', 2000);
    expect(countWords(text)).toBeLessThan(250);
    expectCleanProse(text);
  });

  it('of a long description is close to a large target length', async () => {
    const points = ['rent', 'trust', 'sleep', 'noise', 'pay', 'travel', 'food', 'health', 'friends', 'family'];
    const text = await draft(`Remote work:\n${points.map((point) => `- ${point}`).join('\n')}`, 'Professional', 800);
    expect(countWords(text)).toBeGreaterThanOrEqual(480);
    for (const point of points) expect(text).toContain(point);
    expectCleanProse(text);
  });

  it('of few words mentions only the points that fit', async () => {
    const text = await draft('Bees: honey, wax, pollen, hives, queens, drones, swarms and winter', 'Standard', 30);
    expect(text).not.toMatch(/eight/);
    expectCleanProse(text);
  });

  it('is not started for an aborted request', async () => {
    const order = { description: 'bees', mode: 'Standard', wordCount: 100 } as const;
    await expect(createDraftingWriter().write(order, AbortSignal.abort())).rejects.toThrow();
  });
});
