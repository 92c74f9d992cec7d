import type { WritingMode } from '../essay-writer.ts';
import { countWords } from '../words.ts';
import type { Brief } from './brief.ts';
import { fillTemplate, type Slots } from './fill-template.ts';
import { createSlots, templatesByMode } from './outline.ts';
import { capitalise } from './phrase.ts';
import type { Point } from './points.ts';

/** Titles for a draft with these points, best first: the first of the caller, otherwise some made from the topic. */
export function composeTitles(brief: Brief, points: readonly Point[], mode: WritingMode): string[] {
  const [given] = brief.titles;
  if (given) return [given];
  const { titles, titleCase } = templatesByMode[mode];
  const slots: Slots = { ...createSlots(brief, points), subject: nameSubject(brief) };
  // If the topic is a sentence or a list, a title with the points would repeat it.
  const isPlain = brief.topic.kind === 'noun' && slots.topic !== 'the subject';
  return titles
    .filter((template) => isPlain || template === '{subject}')
    .flatMap((template) => fillTemplate(template, slots) ?? [])
    .map((title) => (titleCase === 'title' && brief.isEnglish ? toTitleCase(title) : title));
}

function nameSubject({ topic }: Brief): string {
  const text = topic.text.replace(/^“(.*)”$/, '$1').replace(/[.。]+$/, '');
  if (countWords(text) <= maxSubjectWords) return text;
  const [clause = ''] = text.split(/[,;:–—(]/, 1);
  if (countWords(clause) >= 2 && countWords(clause) <= maxSubjectWords) return clause.trim();
  return `${text
    .split(/\s+/)
    .slice(0, 10)
    .join(' ')
    .replace(/[\s\p{P}]+$/u, '')}…`;
}

/** Words with a capital (NASA, iPhone) do not change. */
function toTitleCase(title: string): string {
  const words = title.split(' ');
  return words
    .map((word, index) => {
      const isEdge = index === 0 || index === words.length - 1 || /[:?!]$/.test(words[index - 1] ?? '');
      if (/\p{Lu}/u.test(word) || (!isEdge && smallWords.has(word))) return word;
      return word.split('-').map(capitalise).join('-');
    })
    .join(' ');
}

const maxSubjectWords = 14;
const smallWords = new Set('a an the and or but nor of in on at to for from by with as vs versus per via'.split(' '));
