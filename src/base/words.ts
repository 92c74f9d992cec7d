import { groupBy } from './group-by.ts';

/**
 * Counts words: what is between white space; in Thai, Khmer, Lao and Burmese, which have no spaces between words, those of a
 * dictionary; in Chinese, Japanese and Tibetan, two characters are a word.
 * @param most ends when so many were counted
 */
export function countWords(text: string, most = Number.POSITIVE_INFINITY): number {
  let words = 0;
  for (const _ of findWordEnds(text)) {
    words += 1;
    if (words >= most) break;
  }
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

/** Whether a text is about a description: it has a word of it that is not common to many texts. */
export function createTopicCheck(description: string): (text: string) => boolean {
  /** By their first three characters, which two forms of a word have in common. */
  let wanted: ReadonlyMap<string, string[]> | null = null;
  return (text) => {
    wanted ??= groupBy(topicWordsOf(description), (word) => word.slice(0, 3));
    const own = wordsOf(text.slice(0, maxTopicLength), needsDictionary(description));
    return wanted.size === 0 || own.some((word) => wanted?.get(word.slice(0, 3))?.some((one) => isSameWord(word, one)));
  };
}

function topicWordsOf(description: string): string[] {
  const words = wordsOf(description, true).filter((word) => !commonWords.has(word));
  const long = words.filter((word) => word.length > (scriptWithoutSpaces.test(word) ? 1 : 3));
  return long.length > 0 ? long : words;
}

/** The beginning of a text shows its topic. */
const maxTopicLength = 5_000;

/** Without numbers. @param hasDictionary whether words of scripts without spaces are found, too */
function wordsOf(text: string, hasDictionary: boolean): string[] {
  const lower = text.toLowerCase();
  const words =
    hasDictionary && needsDictionary(lower)
      ? Array.from(wordBreaks.segment(lower), ({ segment }) => segment)
      : (lower.match(wordWithSpaces) ?? []);
  return [...new Set(words.filter((word) => /\p{L}/u.test(word)))];
}

/** Whether words of the text are found with a dictionary, which takes ten times as long. */
export function needsDictionary(text: string): boolean {
  return scriptWithoutSpaces.test(text);
}

const scriptWithoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u;
const wordWithSpaces = new RegExp(`(?:(?!${scriptWithoutSpaces.source})[\\p{L}\\p{M}\\p{N}])+`, 'gu');

/** Apart from the end, which differs in plurals and cases. */
function isSameWord(one: string, other: string): boolean {
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  let common = 0;
  while (common < short.length && short[common] === long[common]) common += 1;
  return common >= Math.max(common === short.length ? 3 : 4, 0.7 * long.length);
}

// cspell:disable
/** Words that a message may share with any description: frequent ones of several languages, and those about texts and orders. */
const commonWords = new Set(
  `the and for you are not but can was has had its our who why how all any one two may out of to in is it on at by an as be or we do
  if so no my me about above after again against also although always among another around because been before being below between both cannot
  could does during each even every first following from give given have having here however into itself just like long made make
  makes many might more most much must need needs never next only other over please same shall should since some still such take
  than that their them themselves then there these they this those through time today under until upon used uses using very want
  were what when where whether which while whom whose will with within without would your yours answer answers article discuss
  describe describes description draft essay essays example examples explain general generate help introduction conclusion limit
  message model number order orders paragraph paragraphs points purpose request requests result service support text texts title
  titles topic topics word words work write writer writers writes writing written aber auch aufsatz bitte dass diese dieser eine
  einem einen einer haben ihre ihrer kann mehr nach nicht noch oder schreiben sich sind über warum wenn werden wird wurde avec
  dans elle être leur mais nous peut plus pour pourquoi sans sont tout vous votre como cuando desde ensayo esta este hasta para
  pero porque puede sobre también texto todo mais quando come della nella perché più questo sono deze door heeft maar meer niet
  over voor waarom чтобы который почему также 为什么 如何 关于 使用 重新 我们 可以 一个 没有 文章 について なぜ です ます する ください`.split(
    /\s+/,
  ),
);
// cspell:enable
