import { findWordLimit } from '../../base/words.ts';
import { findEndOfSentences } from '../sentences.ts';
import { listMarkers, type Marker } from './markers.ts';
import { removeFence, removeRemarks } from './remarks.ts';

/** For the prompt. */
export const tagRule =
  'Write <essay> on the first line, then the essay, then </essay> on the last line. Do not write these tags elsewhere.';

export interface CleanedAnswer {
  /** Without reasoning, markers, other turns, remarks to the reader, and a fence around all of it. */
  text: string;
  /**
   * Whether more text can change the beginning of this one. `open`: it may turn out to be reasoning, whose opening tag is in the
   * prompt; `settled`: the reasoning has ended; `plain`: there is nothing but text after a tag that certainly begins it; `ended`: what
   * follows is another turn.
   */
  state: 'open' | 'settled' | 'plain' | 'ended';
  /** Where what was received ends: in the text, in reasoning that is not closed, or after the text. */
  endsIn: 'text' | 'thought' | 'rest';
  /** Whether the model wrote it after the tag. */
  isTagged: boolean;
}

/**
 * The essay in what a language model wrote: what follows the tag `<essay>`, or all text without it. Reasoning that is not closed
 * continues to the end; what comes before a closing tag without an opening one is reasoning, too.
 * @param isComplete whether no text follows; if not, the last characters are left out where they may be part of a marker
 */
export function cleanAnswer(answer: string, isComplete: boolean): CleanedAnswer {
  const written = removeControlCharacters(answer);
  let ranges: Range[] = [];
  /** The text before a closing tag without an opening one. */
  let dropped: Range[] = [];
  /** The names of the blocks of reasoning that are open, from the outermost to the innermost. */
  let open: string[] = [];
  let tag: string | null = null;
  /** Whether a tag has certainly begun the essay. */
  let isCertain = false;
  let isPlain = false;
  let isSettled = false;
  /** A message has ended; a final one may follow. */
  let isPaused = false;
  let hasEnded = false;

  const markers = listMarkers(written);
  if (!markers) return { text: '', state: 'open', endsIn: 'thought', isTagged: false };
  const limit = isComplete ? written.length : findPossibleMarker(written, markers.at(-1)?.end ?? 0);
  let position = 0;
  for (const marker of markers) {
    if (marker.index > limit || hasEnded) break;
    addText(marker.index);
    isPlain = false;
    if (!isMention(marker) && apply(marker)) position = marker.end;
  }
  addText(limit);
  const endsIn = hasEnded || isPaused ? 'rest' : open.length > 0 ? 'thought' : 'text';
  // The last marker may be a closing tag after all text.
  const joined = joinRanges(written, hasText() ? ranges : dropped);
  const text = endsIn === 'text' ? joined.replace(incompleteToken, '').trimEnd() : joined;
  const cleaned = tag === 'essay' || !isComplete ? removeFence(text) : removeRemarks(text);
  // A fence at the start may be around all of the text, or around a part of it.
  const state = hasEnded ? 'ended' : isPlain && !/^[`~]{3}/.test(text) ? 'plain' : isSettled ? 'settled' : 'open';
  return { text: cleaned, state, endsIn, isTagged: tag === 'essay' };

  function addText(end: number): void {
    if (end > position && !hasEnded && !isPaused && open.length === 0) {
      const last = ranges.at(-1);
      if (last?.end === position) last.end = end;
      else ranges.push({ start: position, end });
    }
    position = Math.max(position, end);
  }

  function hasText(): boolean {
    return ranges.some((range) => /\S/.test(written.slice(range.start, range.end)));
  }

  /** Whether a sentence mentions the marker. */
  function isMention({ kind, index, end }: Marker): boolean {
    if (open.length > 0 || !hasText() || ['channel', 'answer', 'noise'].includes(kind)) return false;
    return isBetweenWords(written.slice(Math.max(0, index - 10), index), written.slice(end, end + 15));
  }

  /** @returns false if the marker is part of the text */
  function apply({ kind, name }: Marker): boolean {
    switch (kind) {
      case 'noise':
        return true;
      case 'channel':
        open = open.filter((block) => block !== 'channel');
        if (isSettled && hasText()) return endTurn();
        return open.push('channel') > 0;
      case 'thought':
        return open.push(name) > 0;
      case 'thought-end':
        return endThought(name);
      case 'answer':
        return isSettled && hasText() ? endTurn() : restart(true);
      case 'tag':
        return open.length > 0 || beginTag(name);
      case 'tag-end':
        return open.length > 0 || endTag(name);
      case 'turn':
        if (hasText()) return isPaused || endTurn();
        open = [];
        isPaused = false;
        return true;
      case 'end':
      case 'message-end':
        if (hasText() && (kind === 'end' || isSettled)) return endTurn();
        open = [];
        isPaused = true;
        return true;
    }
  }

  function endThought(name: string): true {
    if (open.length > 0) {
      const index = open.lastIndexOf(name);
      open.length = index === -1 ? open.length - 1 : index;
      if (open.length === 0 && !hasText()) isSettled = true;
    } else if (!isCertain) {
      // The opening tag is in the prompt, or reasoning went on after it was closed: all text before is reasoning.
      if (isSettled && hasText()) dropped = ranges;
      tag = null;
      restart(true);
    }
    return true;
  }

  function beginTag(name: string): boolean {
    if (isCertain || (name !== 'essay' && hasText())) return false;
    tag = name;
    if (name !== 'essay') return true;
    // After text, it may be part of reasoning whose opening tag is in the prompt.
    isCertain = removeFence(joinRanges(written, ranges)) === '';
    isPlain = isCertain;
    return restart(isSettled || isCertain);
  }

  function endTag(name: string): boolean {
    if (tag !== name) return false;
    // A model may put only the title between the tags.
    if (!/[.!?…。！？؟।\n]/u.test(joinRanges(written, ranges))) return true;
    if (isCertain || name !== 'essay') return endTurn();
    isPaused = true;
    return true;
  }

  function restart(settled: boolean): true {
    ranges = [];
    open = [];
    isPaused = false;
    isSettled = settled;
    return true;
  }

  function endTurn(): true {
    hasEnded = true;
    return true;
  }
}

interface Range {
  start: number;
  end: number;
}

/** At the end of a text that was cut off within it. */
const incompleteToken = /<[|｜/][\w▁|｜]{0,40}$/;

/** Removes control characters but line breaks and tabs, and lone halves of surrogate pairs. */
function removeControlCharacters(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/(?![\n\t])[\p{Cc}\p{Cs}]/gu, '');
}

/** Reasoning may end without a full stop, and the text after it begins with a capital. */
function isBetweenWords(before: string, after: string): boolean {
  return (
    /[\p{L}\p{N},;:][ \t]{1,3}$/u.test(before) &&
    /^(?:[ \t]{1,3}(?!(?:user|human|system|assistant|model)\b)\p{Ll}|[.,;](?:\s|$))/u.test(after)
  );
}

/** Where something was removed between two ranges, the white space of both sides with more line breaks remains. */
function joinRanges(written: string, ranges: readonly Range[]): string {
  let joined = '';
  let space = '';
  for (const { start, end } of ranges) {
    const range = written.slice(start, end);
    const text = range.trim();
    const before = range.slice(0, range.length - range.trimStart().length);
    if (before.split('\n').length > space.split('\n').length || space === '') space = before;
    if (text === '') continue;
    joined += joined === '' ? text : space + text;
    space = range.slice(range.trimEnd().length);
  }
  return joined;
}

/** The index from which on a text may have a marker that is not complete, or a mention of one. */
function findPossibleMarker(text: string, from: number): number {
  const find = (character: RegExp, length: number) => {
    const start = Math.max(from, text.length - length);
    const index = text.slice(start).search(character);
    return index === -1 ? text.length : start + index;
  };
  // A marker without symbols is shorter: `assistantfinal`, after other words.
  return Math.max(0, Math.min(find(/[<＜`]|&lt;|~{3}/, 600), find(/[[({【◁\\*]/, 200), text.length - 60));
}

/**
 * Shows an essay while it is written, in whole sentences, if it is all that follows the tag. It begins with all these texts, whatever
 * the model writes next. Of an answer without the tag, nothing is shown.
 * @returns to call with the whole answer so far
 */
export function createShownEssay(wordCount: number, onText: (part: string) => void): (written: string) => void {
  let shownUntil = 0;
  let nextLength = 0;

  return (written) => {
    if (written.length < nextLength || !/(?:[<＜[]|&lt;|&#60;|u003c)\s*essay/i.test(written)) return;
    // Each reading cleans what was written, so readings become rarer as it grows.
    nextLength = written.length + Math.max(40, written.length / 100);
    const { text, state } = cleanAnswer(written, false);
    if (state !== 'plain' || text.length > maxShown) return;
    const certain = text.slice(0, findWordLimit(text, wordCount));
    // Whether a full stop ends a sentence depends on the letter that follows.
    const lastLetter = certain.search(/[\p{L}\n][^\p{L}\n]*$/u);
    const part = certain.slice(shownUntil, Math.max(shownUntil, findEndOfSentences(certain, lastLetter)));
    shownUntil += part.length;
    if (part !== '') onText(part);
  };
}

/** In characters: much more than any essay. */
const maxShown = 60_000;
