import { countWords, splitSentences } from '../words.ts';
import { type Phrase, readPhrase, toSentence } from './phrase.ts';

export interface Point {
  phrase: Phrase;
  /** Sentences of the description that belong to the point. */
  details: string[];
  /** The index of its paragraph in the description; null if it comes from a list. */
  paragraph: number | null;
}

/** Reads a list item: "Cost", "Cost: rent is too high", "Cost. Rent is too high." or a sentence. */
export function readListItem(text: string, isEnglish: boolean): Point[] {
  const [, name, remark] = /^([^.:!?]{2,60}?)(?::| [-–—]) (.+)$/.exec(text) ?? [];
  const isNamed = name !== undefined && remark !== undefined && countWords(name) <= 6;
  const [first = '', ...rest] = isNamed ? [name, ...splitSentences(remark)] : splitSentences(text);
  const isSentence = !isNamed && /[.!。！]["'”’)]*$/.test(first) && countWords(first) > 3;
  const phrase = readPhrase(first, { isAtStart: true, isSentence, isEnglish });
  if (!phrase) return [];
  return [{ phrase, details: rest.map((sentence) => toDetail(sentence, isEnglish)), paragraph: null }];
}

/**
 * Removes repeated points and repetitions of the topic. In a long description, also groups statements of the same
 * paragraph into points of a few sentences.
 */
export function groupPoints(all: readonly Point[], topic: string): Point[] {
  const seen = new Set([normalize(topic)]);
  const points = all.filter(({ phrase }) => !seen.has(normalize(phrase.text)) && seen.add(normalize(phrase.text)));
  const statements = points.filter(({ paragraph }) => paragraph !== null);
  if (statements.length <= maxSingleStatements) return [...points];
  const grouped: Point[] = [];
  for (const point of points) {
    const last = grouped.at(-1);
    const isSameParagraph = last && point.paragraph !== null && last.paragraph === point.paragraph;
    if (isSameParagraph && last.details.length < statementsPerParagraph - 1) {
      last.details.push(toSentence(point.phrase.text));
    } else {
      grouped.push({ ...point, details: [...point.details] });
    }
  }
  return grouped;
}

function normalize(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{S}]+/gu, ' ')
    .trim();
}

/** Turns the text after a point's name into a sentence. */
function toDetail(text: string, isEnglish: boolean): string {
  const phrase = readPhrase(text, { isAtStart: true, isSentence: /[.!?]$/.test(text), isEnglish });
  if (!phrase || phrase.kind === 'statement' || phrase.kind === 'question') return toSentence(text);
  return toSentence(phrase.kind === 'noun' ? `This covers ${phrase.text}` : `In short: ${phrase.text}`);
}

/** More statements are grouped: a paragraph for each would be a list and not an essay. */
const maxSingleStatements = 6;
const statementsPerParagraph = 4;
