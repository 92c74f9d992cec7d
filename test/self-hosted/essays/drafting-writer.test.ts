import { describe, expect, it } from 'vitest';
import { createDraftingWriter } from '../../../src/self-hosted/essays/drafting/drafting-writer.ts';
import { type EssayMode, essayModes } from '../../../src/self-hosted/essays/essay-writer.ts';
import { countWords } from '../../../src/self-hosted/essays/words.ts';

const remoteWork = 'Write an essay about remote work: productivity, loneliness and city budgets.';

async function draft(description: string, mode: EssayMode, wordCount: number): Promise<string> {
  return createDraftingWriter().write({ description, mode, wordCount }, new AbortController().signal);
}

/** What a proof-reader would mark, whatever the text is about. */
function expectCleanProse(text: string) {
  expect(text).not.toMatch(/\b(the|a|an|of|to|in|and|is) \1\b/i);
  expect(text).not.toMatch(/[,;:]\s*[.,;:]|\.\.| [,.;:!?]| {2}|\{|\}|undefined|null/);
  for (const paragraph of text.split('\n\n').slice(1)) {
    expect(paragraph).toMatch(/^["“]?[\p{Lu}\p{N}]/u);
    expect(paragraph).toMatch(/[.!?…]["”]?$/);
  }
}

describe('a draft of three points', () => {
  it.each(essayModes)('in mode %s has a title, an introduction, a paragraph each and a conclusion', async (mode) => {
    const text = await draft(remoteWork, mode, 300);
    const [title, introduction, ...rest] = text.split('\n\n');
    expect(rest).toHaveLength(4);
    expect(title).toMatch(/^Remote work/i);
    expect(introduction).toContain('remote work');
    expect(rest[0]).toContain('productivity');
    expect(rest[1]).toContain('loneliness');
    expect(rest[2]).toContain('city budgets');
    expectCleanProse(text);
  });

  it.each(essayModes)('in mode %s comes near its target', async (mode) => {
    expect(countWords(await draft(remoteWork, mode, 300))).toBeGreaterThanOrEqual(180);
  });

  it.each(essayModes)('in mode %s opens its paragraphs differently and says nothing twice', async (mode) => {
    const text = await draft(remoteWork, mode, 400);
    const openings = text.split('\n\n').map((paragraph) => paragraph.split(' ').slice(0, 2).join(' '));
    expect(new Set(openings).size).toBe(openings.length);
    const sentences = text.split(/(?<=[.!?])\s+/);
    expect(new Set(sentences).size).toBe(sentences.length);
  });

  it('differs by mode and by purpose', async () => {
    const modes = await Promise.all(essayModes.map((mode) => draft(remoteWork, mode, 300)));
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
  it('takes the first of the titles it is offered', async () => {
    const text = await draft(`${remoteWork}\n\nTitle options: Far From the Office, Alone.`, 'Academic', 200);
    expect(text.split('\n\n')[0]).toBe('Far From the Office');
    expect(text).not.toMatch(/Title options|Alone/);
  });

  it('holds every sentence of a description that states facts, as it was written', async () => {
    const facts = [
      'Our town is closing its library.',
      'Children use it after school.',
      'It saves 40,000 euros a year.',
    ];
    const text = await draft(facts.join(' '), 'Journalistic', 300);
    for (const fact of facts) expect(text).toContain(fact);
    expectCleanProse(text);
  });

  it('states no figure and no name that the description does not have', async () => {
    const text = await draft(remoteWork, 'Journalistic', 2000);
    expect(text).not.toMatch(/\d/);
    expect(text.match(/(?<=[a-z,] )\p{Lu}\p{L}+/gu)).toBeNull();
  });

  it('of a short description stays short: there is nothing to fill 2000 words with', async () => {
    const text = await draft('climate', 'Standard', 2000);
    expect(countWords(text)).toBeLessThan(250);
    expectCleanProse(text);
  });

  it('of a rich description comes near a large target', async () => {
    const points = ['rent', 'trust', 'sleep', 'noise', 'pay', 'travel', 'food', 'health', 'friends', 'family'];
    const text = await draft(`Remote work:\n${points.map((point) => `- ${point}`).join('\n')}`, 'Professional', 800);
    expect(countWords(text)).toBeGreaterThanOrEqual(480);
    for (const point of points) expect(text).toContain(point);
    expectCleanProse(text);
  });

  it('has no room for all points in few words, and speaks of those that it has', async () => {
    const text = await draft('Bees: honey, wax, pollen, hives, queens, drones, swarms and winter', 'Standard', 30);
    expect(text).not.toMatch(/eight/);
    expectCleanProse(text);
  });

  it('is not begun for a caller who is gone', async () => {
    const order = { description: 'bees', mode: 'Standard', wordCount: 100 } as const;
    await expect(createDraftingWriter().write(order, AbortSignal.abort())).rejects.toThrow();
  });
});
