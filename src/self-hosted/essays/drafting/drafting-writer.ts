import type { EssayMode, EssayWriter } from '../essay-writer.ts';
import { countWords, cutAtSentenceEnd } from '../words.ts';
import { type Brief, readBrief } from './brief.ts';
import { composeTitles } from './headline.ts';
import { createOutline, type Outline } from './outline.ts';

interface Plan {
  title: string | null;
  outline: Outline;
}

/** Below this a draft has no room to end with a conclusion. */
const minWordsToConclude = 80;

/**
 * Writes without a language model: an honest draft that puts the description's own topic and points in order, in the
 * manner of the mode. It knows nothing of the topic and states nothing about it. The same order gives the same draft.
 */
export function createDraftingWriter(): EssayWriter {
  return {
    write: async ({ description, mode, wordCount }, signal) => {
      signal.throwIfAborted();
      const brief = readBrief(description);
      const plan = findPlan(brief, mode, wordCount);
      return plan ? composeDraft(plan, wordCount) : cutAtSentenceEnd(sayItShort(brief, mode), wordCount);
    },
  };
}

/** As many of the points as fit, with a title if there is room for one beside the first of them. */
function findPlan(brief: Brief, mode: EssayMode, wordCount: number): Plan | null {
  for (let kept = countMostPoints(brief, wordCount); kept >= 0; kept -= 1) {
    const points = brief.points.slice(0, kept);
    const outline = createOutline(brief, points, mode);
    if (wordCount >= minWordsToConclude) makeFirstSentenceDue(outline.at(-1));
    const due = countWords(outline.flat().filter(isDue).map(textOf).join(' '));
    const titles = composeTitles(brief, points, mode);
    const title = titles.find((text) => countWords(text) <= Math.min(wordCount - due, Math.max(8, wordCount / 6)));
    if (title !== undefined) return { title, outline };
    if (kept <= 1 && due <= wordCount) return { title: null, outline };
  }
  return null;
}

/** Gathered sentences belong together: rather fewer paragraphs, then, than the first sentence of each. */
function countMostPoints({ points }: Brief, wordCount: number): number {
  const isGathered = points.some(({ paragraph, details }) => paragraph !== null && details.length > 0);
  return Math.min(points.length, isGathered ? Math.max(3, Math.floor(wordCount / 50)) : points.length);
}

/** Adds sentences by rank, then by place, as long as they fit. */
function composeDraft({ title, outline }: Plan, wordCount: number): string {
  const all = outline.flat();
  const chosen = new Set(all.filter(isDue));
  let room = wordCount - countWords([title ?? '', ...[...chosen].map(textOf)].join(' '));
  for (const sentence of all.filter((one) => !isDue(one)).sort((a, b) => a.rank - b.rank)) {
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

/** For orders of a few words: what the description itself says first, or the title. */
function sayItShort(brief: Brief, mode: EssayMode): string {
  const { kind, text } = brief.topic;
  const isSentence = kind === 'statement' || kind === 'question';
  return (isSentence ? undefined : composeTitles(brief, [], mode)[0]) ?? text;
}

function makeFirstSentenceDue(paragraph: Outline[number] | undefined): void {
  const [first] = paragraph ?? [];
  if (first) first.rank = 0;
}

function isDue({ rank }: { rank: number }): boolean {
  return rank === 0;
}

function textOf({ text }: { text: string }): string {
  return text;
}
