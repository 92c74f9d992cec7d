import { findWordLimit } from '../../../words.ts';
import { findEndOfSentences } from '../sentences.ts';
import { type CleanedAnswer, cleanAnswer, dropNextMessages, removeControlCharacters } from './clean-answer.ts';
import { listMarkers, maxMarkerLength } from './markers.ts';

/** For the prompt of an essay that is shown while it is written. */
export const tagRule =
  'Write <essay> on the first line, then the essay, then </essay> on the last line. Do not write these tags elsewhere.';

const tag = 'essay';
const openingTag = new RegExp(`<${tag}>`, 'gi');

/**
 * An essay that is shown while it is written, in the answer to a prompt with `tagRule`. Without the tag, reasoning whose opening tag
 * is in the prompt template would look like an essay until its closing tag. What follows the tag is the essay, unless reasoning is
 * open there, or text came before it; of an answer without the tag, nothing is shown before it is complete.
 */
export class TaggedEssay {
  readonly #wordCount: number;
  /** The index after the tag. */
  #start: number | null = null;
  /** Whether the tokens of the harmony format were lost before the tag. */
  #isWithoutTokens = false;
  #searchedUntil = 0;
  #tags = 0;
  /** The length of the answer at which there may be more to show. */
  #nextLength = 0;
  #shownUntil = 0;
  #isHeld = false;

  /** @param wordCount largest number of words */
  constructor(wordCount: number) {
    this.#wordCount = wordCount;
  }

  /** The essay, as `cleanAnswer` returns it. @param written the whole answer so far */
  clean(written: string, isComplete: boolean): CleanedAnswer {
    const start = this.#findStart(written);
    if (start !== null) return cleanAnswer(this.#dropNext(written.slice(start)), isComplete, tag);
    const cleaned = cleanAnswer(written, isComplete);
    // After a preface, such as "Here is your essay:".
    const [, essay = ''] = /<essay>([\s\S]*?)(?:<\/essay>|$)/i.exec(cleaned.text) ?? [];
    return essay.trim() === '' ? cleaned : { ...cleaned, text: essay.trim() };
  }

  /**
   * The text that follows what was returned before and can be shown, or an empty text: whole sentences before anything that may be a
   * marker. The essay begins with all these texts, whatever the model writes next. @param written the whole answer so far
   */
  readCertain(written: string): string {
    if (this.#isHeld || written.length < this.#nextLength) return '';
    const start = this.#findStart(written);
    const length = written.length - (start ?? 0);
    // Each reading copies what was written, so readings become rarer as it grows.
    this.#nextLength = written.length + Math.max(minStep, Math.floor(length / 100));
    if (start === null) return '';
    if (length > maxLength) this.#isHeld = true;
    const text = this.#dropNext(removeControlCharacters(written.slice(start))).trimStart();
    const certain = text.slice(0, this.#findCertainEnd(text));
    // Whether a full stop ends a sentence depends on the letter that follows.
    const lastLetter = certain.search(/[\p{L}\n][^\p{L}\n]*$/u);
    const rest = certain.slice(this.#shownUntil);
    const part = rest.slice(0, findEndOfSentences(rest, lastLetter - this.#shownUntil));
    this.#shownUntil += part.length;
    return part;
  }

  #findStart(written: string): number | null {
    if (this.#start !== null) return this.#start;
    openingTag.lastIndex = this.#searchedUntil;
    for (let found = openingTag.exec(written); this.#start === null && found; found = openingTag.exec(written)) {
      this.#tags += 1;
      if (this.#tags > maxTags) break;
      this.#searchedUntil = openingTag.lastIndex;
      const before = written.slice(0, found.index);
      const { text, endsIn } = cleanAnswer(before, true);
      if (text === '' && endsIn === 'text') this.#start = this.#searchedUntil;
      this.#isWithoutTokens = /final(?:message)?\s*$/.test(before);
    }
    this.#searchedUntil = Math.max(this.#searchedUntil, written.length - tag.length - 1);
    return this.#start;
  }

  #dropNext(text: string): string {
    return this.#isWithoutTokens ? dropNextMessages(text) : text;
  }

  /** The index up to which what was read is text within the word limit, whatever follows. */
  #findCertainEnd(text: string): number {
    const markers = listMarkers(text);
    const firstMarker = markers === null ? 0 : (markers[0]?.index ?? text.length);
    const possibleMarker = findPossibleMarker(text);
    const end = Math.min(firstMarker, possibleMarker);
    const limit = findWordLimit(text.slice(0, end), this.#wordCount);
    // What a marker means may depend on all that follows it.
    if (firstMarker < possibleMarker || limit < end) this.#isHeld = true;
    return limit;
  }
}

/** What comes before each tag is cleaned; only reasoning mentions it more often. */
const maxTags = 20;
/** In characters. */
const minStep = 40;
/** In characters: much more than any essay. */
const maxLength = 60_000;

/** The index from which on a text may have a marker that is not complete, or a mention of one. */
function findPossibleMarker(text: string): number {
  const searches: [RegExp, number][] = [
    [/[<＜`]|&lt;|~{3}/, maxMarkerLength],
    [/[[({【⟨‹◁]/, maxBracketLength],
  ];
  const found = searches.map(([pattern, maxLength]) => {
    const from = Math.max(0, text.length - maxLength);
    const index = text.slice(from).search(pattern);
    return index === -1 ? text.length : from + index;
  });
  return Math.max(0, Math.min(...found, text.length - maxWordLength));
}

/** A marker in brackets, and what follows if it is a mention. */
const maxBracketLength = 200;
/** A marker without symbols is shorter: `assistantfinal`, after other words. */
const maxWordLength = 60;
