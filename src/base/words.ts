/**
 * Counts words: what is between white space; in Thai, Khmer, Lao and Burmese, which have no spaces between words, those of a
 * dictionary; in Chinese, Japanese and Tibetan, two characters are a word.
 */
export function countWords(text: string): number {
  let words = 0;
  for (const _ of findWordEnds(text)) words += 1;
  return Math.max(words, Math.floor((text.match(letterOfHalfWord)?.length ?? 0) / 2));
}

/** The index up to which a text has at most `count` words; its length if it has no more. */
export function findWordLimit(text: string, count: number): number {
  return Math.min(findEndOfWord(text, count), findEndOfHalfWords(text, count));
}

function findEndOfWord(text: string, count: number): number {
  let last = 0;
  let words = 0;
  for (const end of findWordEnds(text)) {
    words += 1;
    if (words > count) return last;
    last = end;
  }
  return text.length;
}

/** Between two characters with their vowel signs. */
function findEndOfHalfWords(text: string, words: number): number {
  let letters = 0;
  let end = 0;
  for (const { 0: letter, index } of text.matchAll(letterOfHalfWord)) {
    letters += 1;
    if (letters === 1 || !/\p{M}/u.test(letter)) end = index;
    // Without a place to end at, a sign is separated.
    if (letters > 2 * words + 1) return text.slice(0, end).trim() === '' ? index : end;
  }
  return text.length;
}

/** A word without a space after it ends where the next one begins. */
function* findWordEnds(text: string): Generator<number> {
  for (const { 0: run, index } of text.matchAll(boundedRun)) {
    if (letterWithoutSpaces.test(run)) {
      let isFirst = true;
      for (const { isWordLike, index: start } of wordBreaks.segment(run)) {
        if (isWordLike && !isFirst) yield index + start;
        isFirst &&= !isWordLike;
      }
    }
    yield index + run.length;
  }
}

const wordBreaks = new Intl.Segmenter(undefined, { granularity: 'word' });
const letterWithoutSpaces = /[\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u;
const letterOfHalfWord = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Tibetan}]/gu;
/** The time of a segmenter grows with the square of the length, so a longer run without spaces is read in parts. */
const boundedRun =
  /[^\s\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]*[\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]\S{0,500}|\S+/gu;
