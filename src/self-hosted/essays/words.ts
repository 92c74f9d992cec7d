const sentenceBreaks = new Intl.Segmenter('en', { granularity: 'sentence' });

/** A full stop behind one of these or behind an initial ends no sentence. */
const openEnd = /(?:^|[\s("'“‘])(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|No|vs|cf|ca|approx|e\.g|i\.e|U\.S|U\.K)\.$/u;
const listNumber = /^\(?\d{1,3}[.)]$/;
const sentenceEnd = /[.!?…。！？؟।]['"’”»)\]*_]*$/u;
const listItem = /^\s*(?:[-*+•]|\d+[.)])\s+\S/;

/** How many words a text has; a word is whatever stands between white space. */
export function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** The sentences of a text, trimmed. A line break ends a sentence, an abbreviation does not. */
export function splitSentences(text: string): string[] {
  return locateSentences(text).map(({ start, end }) => text.slice(start, end).trim());
}

/**
 * Shortens a text to at most `maxWords` words. It ends on a whole sentence or list item, and keeps its paragraphs and
 * line breaks; where not even one sentence fits, it ends on a word, with an ellipsis attached.
 */
export function cutAtSentenceEnd(text: string, maxWords: number): string {
  const limit = findEndOfWord(text, maxWords);
  if (limit === text.length) return text.trim();
  // A heading is not a place to stop: what it announces would be missing.
  // Nor is anything far behind the limit read: finding sentences takes longer than the text is long.
  const lastWhole = locateSentences(text.slice(0, limit + 200)).findLast(
    ({ start, end }) => end <= limit && isWhole(text.slice(start, end), text.slice(end)),
  );
  if (lastWhole) return text.slice(0, lastWhole.end).trim();
  const kept = text.slice(0, limit).trim();
  return kept === '' ? '' : `${kept.replace(/[\s\p{P}]+$/u, '') || kept}…`;
}

function isWhole(sentence: string, rest: string): boolean {
  return sentenceEnd.test(sentence) || (listItem.test(sentence) && /^\s*(?:\n|$)/.test(rest));
}

/** Where the n-th word ends; the text's length when it has no more than n words. */
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

function isOpenEnd(ending: string): boolean {
  return openEnd.test(ending) || listNumber.test(ending);
}

/** Half-open ranges that cover all but the white space between sentences. */
function locateSentences(text: string): { start: number; end: number }[] {
  const sentences: { start: number; end: number }[] = [];
  let start: number | null = null;
  for (const { segment, index } of sentenceBreaks.segment(text)) {
    const trimmed = segment.trimEnd();
    if (trimmed.trim() === '' && start === null) continue;
    start ??= index + segment.length - segment.trimStart().length;
    const end = index + trimmed.length;
    if (isOpenEnd(text.slice(Math.max(start, end - 12), end)) && !segment.includes('\n')) continue;
    sentences.push({ start, end });
    start = null;
  }
  if (start !== null) sentences.push({ start, end: text.trimEnd().length });
  return sentences.filter(({ start, end }) => end > start);
}
