import type { EssayMode } from '../essay-writer.ts';
import { countWords } from '../words.ts';
import type { Brief } from './brief.ts';
import { fillPhrase, type Slots } from './fill-phrase.ts';
import { createSlots, phrasings } from './outline.ts';
import { capitalise } from './phrase.ts';
import type { Point } from './points.ts';

const maxSubjectWords = 14;
const smallWords = new Set('a an the and or but nor of in on at to for from by with as vs versus per via'.split(' '));

/** Titles for a draft with these points, best first: one the caller gave, else made from the topic. */
export function composeTitles(brief: Brief, points: readonly Point[], mode: EssayMode): string[] {
  const [given] = brief.titles;
  if (given) return [given];
  const { titles, titleCase } = phrasings[mode];
  const slots: Slots = { ...createSlots(brief, points), subject: nameSubject(brief) };
  // A heading that lists the points would only repeat a topic which is a sentence, or a list, itself.
  const isPlain = brief.topic.kind === 'noun' && slots.topic !== 'the subject';
  return titles
    .filter((template) => isPlain || template === '{subject}')
    .flatMap((template) => fillPhrase(template, slots) ?? [])
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

/** Words that carry a capital of their own (NASA, iPhone) keep their spelling. */
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
