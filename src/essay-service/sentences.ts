import { countWords, findWordLimit } from '../base/words.ts';

/** Trimmed sentences. A line break ends a sentence, an abbreviation does not. */
export function splitSentences(text: string): string[] {
  return locateSentences(text).map(({ start, end }) => text.slice(start, end).trim());
}

/**
 * Shortens a text to at most `maxWords` words, after a whole sentence or list item. Paragraphs and line breaks stay. If
 * not even one sentence fits, the text ends with a word and an ellipsis.
 */
export function cutAtSentenceEnd(text: string, maxWords: number): string {
  // The end of a text may have more words than the same characters before others, as a dictionary finds them.
  for (let words = maxWords; words > 0; words -= 1) {
    const kept = cutAfterWords(text, words);
    if (countWords(kept) <= maxWords) return kept;
  }
  return '';
}

function cutAfterWords(text: string, words: number): string {
  const limit = findWordLimit(text, words);
  if (limit === text.length) return text.trim();
  const whole = keepWholeSentences(text, limit);
  if (whole !== null) return whole;
  const kept = text.slice(0, limit).trim();
  return kept === '' ? '' : `${kept.replace(/[\s\p{P}]+$/u, '') || kept}…`;
}

/** The sentences and list items that end before an index; null if there is none. */
export function keepWholeSentences(text: string, limit: number): string | null {
  const end = findEndOfSentences(text, limit);
  return end === 0 ? null : text.slice(0, end).trim();
}

/** The index after the last whole sentence or list item that ends at `limit` or before; 0 if there is none. */
export function findEndOfSentences(text: string, limit: number): number {
  // Text must not end with a heading. Text far after the limit is not read, as splitting sentences is slow.
  const lastWhole = locateSentences(text.slice(0, limit + 200)).findLast(
    ({ start, end }) => end <= limit && isWhole(text.slice(start, end), text.slice(end)),
  );
  return lastWhole?.end ?? 0;
}

function isWhole(sentence: string, rest: string): boolean {
  return sentenceEnd.test(sentence) || (listItem.test(sentence) && /^\s*(?:\n|$)/.test(rest));
}

function isAbbreviationOrNumber(ending: string): boolean {
  return abbreviation.test(ending) || listNumber.test(ending);
}

/** Half-open ranges without the white space between sentences. */
function locateSentences(text: string): { start: number; end: number }[] {
  const sentences: { start: number; end: number }[] = [];
  let start: number | null = null;
  for (const { segment, index } of sentenceBreaks.segment(text)) {
    const trimmed = segment.trimEnd();
    if (trimmed.trim() === '' && start === null) continue;
    start ??= index + segment.length - segment.trimStart().length;
    const end = index + trimmed.length;
    if (isAbbreviationOrNumber(text.slice(Math.max(start, end - 12), end)) && !segment.includes('\n')) continue;
    sentences.push({ start, end });
    start = null;
  }
  if (start !== null) sentences.push({ start, end: text.trimEnd().length });
  return sentences.filter(({ start, end }) => end > start);
}

const sentenceBreaks = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Abbreviations and initials, whose full stop does not end a sentence. */
const abbreviation = /(?:^|[\s("'“‘])(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|No|vs|cf|ca|approx|e\.g|i\.e|U\.S|U\.K)\.$/u;
const listNumber = /^\(?\d{1,3}[.)]$/;
const sentenceEnd = /[.!?…。！？؟।]['"’”»)\]*_]*$/u;
const listItem = /^\s*(?:[-*+•]|\d+[.)])\s+\S/;
