import { countWords } from '../../../words.ts';
import { cutAtSentenceEnd } from '../sentences.ts';
import type { Writer, WritingMode } from '../writing-order.ts';
import { type Brief, readBrief } from './brief.ts';
import { composeTitles, createOutline, type Outline } from './outline.ts';

interface Plan {
  title: string | null;
  outline: Outline;
}

/**
 * Writes without a language model: arranges topic and points of the description with sentence templates of the mode. It
 * states no facts about the topic. The same order results in the same draft.
 */
export function createDraftingWriter(): Writer {
  return {
    kind: 'drafter',
    write: async ({ description, mode, wordCount }, signal, onText) => {
      signal.throwIfAborted();
      const brief = readBrief(description);
      const plan = findPlan(brief, mode, wordCount);
      // In scripts without spaces, a draft may have a few words more than the sum of its sentences.
      const draft = cutAtSentenceEnd(plan ? composeDraft(plan, wordCount) : writeShortest(brief, mode), wordCount);
      // Which sentences fit is known only for the whole draft, so its paragraphs are finished at once.
      if (onText) for (const paragraph of draft.split(/(?=\n\n)/)) onText(paragraph);
      return draft;
    },
  };
}

/** Finds the most points that fit, with a title if there is room for it and one point. */
function findPlan(brief: Brief, mode: WritingMode, wordCount: number): Plan | null {
  for (let count = findMaxPoints(brief, wordCount); count >= 0; count -= 1) {
    const points = brief.points.slice(0, count);
    const outline = createOutline(brief, points, mode);
    if (wordCount >= minWordsToConclude) requireFirstSentence(outline.at(-1));
    const requiredWords = countWords(outline.flat().filter(isRequired).map(textOf).join(' '));
    const titles = composeTitles(brief, points, mode);
    const title = titles.find(
      (text) => countWords(text) <= Math.min(wordCount - requiredWords, Math.max(8, wordCount / 6)),
    );
    if (title !== undefined) return { title, outline };
    if (count <= 1 && requiredWords <= wordCount) return { title: null, outline };
  }
  return null;
}

/** Grouped sentences belong together, so a draft has fewer whole groups rather than the first sentence of each. */
function findMaxPoints({ points }: Brief, wordCount: number): number {
  const isGrouped = points.some(({ paragraph, details }) => paragraph !== null && details.length > 0);
  return Math.min(points.length, isGrouped ? Math.max(3, Math.floor(wordCount / 50)) : points.length);
}

/** Adds sentences that fit, by rank and then by position. */
function composeDraft({ title, outline }: Plan, wordCount: number): string {
  const all = outline.flat();
  const chosen = new Set(all.filter(isRequired));
  let room = wordCount - countWords([title ?? '', ...[...chosen].map(textOf)].join(' '));
  for (const sentence of all.filter((one) => !isRequired(one)).sort((a, b) => a.rank - b.rank)) {
    const words = countWords(sentence.text);
    if (words > room) continue;
    chosen.add(sentence);
    room -= words;
  }
  const paragraphs = outline.map((sentences) =>
    sentences
      .filter((one) => chosen.has(one))
      .map(textOf)
      .join(' '),
  );
  return [title ?? '', ...paragraphs].filter(Boolean).join('\n\n');
}

/** For orders of a few words: the first sentence of the description, or the title. */
function writeShortest(brief: Brief, mode: WritingMode): string {
  const { kind, text } = brief.topic;
  const isSentence = kind === 'statement' || kind === 'question';
  return (isSentence ? undefined : composeTitles(brief, [], mode)[0]) ?? text;
}

function requireFirstSentence(paragraph: Outline[number] | undefined): void {
  const [first] = paragraph ?? [];
  if (first) first.rank = 0;
}

function isRequired({ rank }: { rank: number }): boolean {
  return rank === 0;
}

function textOf({ text }: { text: string }): string {
  return text;
}

/** A shorter draft has no room for a conclusion. */
const minWordsToConclude = 80;
