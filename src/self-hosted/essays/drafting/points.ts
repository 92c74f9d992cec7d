import { countWords, splitSentences } from '../words.ts';
import { asSentence, type Phrase, readPhrase } from './phrase.ts';

export interface Point {
  phrase: Phrase;
  /** Whole sentences of the description that belong to the point. */
  details: string[];
  /** Which paragraph of the description it is a sentence of; null when it comes from a list. */
  paragraph: number | null;
}

/** From so many statements on, a paragraph for each would be a list and not an essay. */
const maxLoneStatements = 6;
const statementsPerParagraph = 4;

/** Reads a list item: "Cost", "Cost: rent is too high", "Cost. Rent is too high." or a sentence. */
export function readItem(text: string, isEnglish: boolean): Point[] {
  const [, name, remark] = /^([^.:!?]{2,60}?)(?::| [-–—]) (.+)$/.exec(text) ?? [];
  const isNamed = name !== undefined && remark !== undefined && countWords(name) <= 6;
  const [first = '', ...rest] = isNamed ? [name, ...splitSentences(remark)] : splitSentences(text);
  const isSentence = !isNamed && /[.!。！]["'”’)]*$/.test(first) && countWords(first) > 3;
  const phrase = readPhrase(first, { isAtStart: true, isSentence, isEnglish });
  if (!phrase) return [];
  return [{ phrase, details: rest.map((sentence) => asDetail(sentence, isEnglish)), paragraph: null }];
}

/**
 * Leaves out what was said before, the topic's own sentence included, and puts the statements of a long description
 * together: a few to a paragraph, as far as they stood together.
 */
export function gatherPoints(all: readonly Point[], topic: string): Point[] {
  const said = new Set([fold(topic)]);
  const points = all.filter(({ phrase }) => !said.has(fold(phrase.text)) && said.add(fold(phrase.text)));
  const statements = points.filter(({ paragraph }) => paragraph !== null);
  if (statements.length <= maxLoneStatements) return [...points];
  const gathered: Point[] = [];
  for (const point of points) {
    const last = gathered.at(-1);
    const isTogether = last && point.paragraph !== null && last.paragraph === point.paragraph;
    if (isTogether && last.details.length < statementsPerParagraph - 1) {
      last.details.push(asSentence(point.phrase.text));
    } else {
      gathered.push({ ...point, details: [...point.details] });
    }
  }
  return gathered;
}

function fold(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{S}]+/gu, ' ')
    .trim();
}

/** What stands behind a point's name need not be a sentence; as a remark it can follow a colon. */
function asDetail(text: string, isEnglish: boolean): string {
  const phrase = readPhrase(text, { isAtStart: true, isSentence: /[.!?]$/.test(text), isEnglish });
  if (!phrase || phrase.kind === 'statement' || phrase.kind === 'question') return asSentence(text);
  return asSentence(phrase.kind === 'noun' ? `This covers ${phrase.text}` : `In short: ${phrase.text}`);
}
