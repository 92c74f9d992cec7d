/**
 * Counts words between white space; in scripts without spaces, a word has about two characters. The gateway counts alike
 * (`essays/rest/read-essay.ts`), but the layers share no code.
 */
export function countWords(text: string): number {
  const words = text.match(/\S+/g)?.length ?? 0;
  const letters = text.match(letterOfHalfWord)?.length ?? 0;
  return Math.max(words, Math.floor(letters / 2));
}

const letterOfHalfWord =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Tibetan}]/gu;

/** Trimmed sentences. A line break ends a sentence, an abbreviation does not. */
export function splitSentences(text: string): string[] {
  return locateSentences(text).map(({ start, end }) => text.slice(start, end).trim());
}

/**
 * Shortens a text to at most `maxWords` words, after a whole sentence or list item. Paragraphs and line breaks stay. If
 * not even one sentence fits, the text ends with a word and an ellipsis.
 */
export function cutAtSentenceEnd(text: string, maxWords: number): string {
  const limit = findWordLimit(text, maxWords);
  if (limit === text.length) return text.trim();
  const whole = keepWholeSentences(text, limit);
  if (whole !== null) return whole;
  const kept = text.slice(0, limit).trim();
  return kept === '' ? '' : `${kept.replace(/[\s\p{P}]+$/u, '') || kept}…`;
}

/** The index up to which a text has `maxWords` words; its length if it has no more. */
export function findWordLimit(text: string, maxWords: number): number {
  return Math.min(findEndOfWord(text, maxWords), findEndOfHalfWords(text, maxWords));
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

/** The index after the n-th word; the length of the text if it has at most n words. */
function findEndOfWord(text: string, n: number): number {
  let end = 0;
  let count = 0;
  for (const match of text.matchAll(/\S+/g)) {
    count += 1;
    if (count > n) return end;
    end = match.index + match[0].length;
  }
  return text.length;
}

/** The same for scripts without spaces, between two characters with their vowel signs. */
function findEndOfHalfWords(text: string, n: number): number {
  let count = 0;
  let end = 0;
  for (const { 0: letter, index } of text.matchAll(letterOfHalfWord)) {
    count += 1;
    if (count === 1 || !/\p{M}/u.test(letter)) end = index;
    // Without a place to end at, a sign is separated.
    if (count > 2 * n + 1) return text.slice(0, end).trim() === '' ? index : end;
  }
  return text.length;
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
