import { listMarkers, type Marker, maxMarkerLength } from './markers.ts';

export interface CleanedAnswer {
  /** Without reasoning, markers, other turns, and a fence around all of it. */
  text: string;
  /**
   * Whether more text can change the beginning of this one. `open`: it may turn out to be reasoning, whose opening tag is in the
   * prompt; `settled`: the reasoning has ended; `ended`: what follows is another turn.
   */
  state: 'open' | 'settled' | 'ended';
  /** Where what was received ends: in the text, in reasoning that is not closed, or after the text. */
  endsIn: 'text' | 'thought' | 'rest';
}

/**
 * The answer in what a language model wrote. Reasoning that is not closed continues to the end; what comes before a closing tag
 * without an opening one is reasoning, too. A tag or bracket with a usual word may be text: see `Marker.alone`.
 * @param isComplete whether no text follows; if not, the last characters are left out, as they may be part of a marker
 * @param tag the name of a tag before the text, which is certain to begin the answer: then a closing tag of reasoning without an
 * opening one has no meaning
 */
export function cleanAnswer(written: string, isComplete: boolean, tag: string | null = null): CleanedAnswer {
  const plain = removeControlCharacters(written);
  const start = tag === null ? readPlainReasoning(plain, isComplete) : { text: plain, isSettled: true };
  const markers = start && listMarkers(start.text);
  if (!start || !markers) return { text: '', state: 'open', endsIn: 'thought' };
  const answer = createAnswer(start.text, markers, { isComplete, isSettled: start.isSettled, tag });
  for (const marker of markers) {
    // What follows decides whether a marker is a mention.
    if (!isComplete && marker.index > start.text.length - maxMarkerLength) break;
    answer.read(marker);
    if (answer.hasEnded()) break;
  }
  const cleaned = answer.finish();
  const text = removeFence(cleaned.text);
  // A fence at the start may be around all of the text, or around its beginning.
  const isUndecided = !isComplete && cleaned.state === 'settled' && fenceLine.test(cleaned.text);
  return { ...cleaned, text, state: isUndecided ? 'open' : cleaned.state };
}

/** Removes control characters but line breaks and tabs, and lone halves of surrogate pairs. */
export function removeControlCharacters(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/(?![\n\t])[\p{Cc}\p{Cs}]/gu, '');
}

interface PlainStart {
  /** What follows the reasoning. */
  text: string;
  isSettled: boolean;
}

/**
 * Reasoning that is marked by words: the harmony format without its special tokens (`analysis...assistantfinal...`) or only without
 * their brackets (`channelanalysismessage...channelfinalmessage...`), that of Granite 3.2, and that in a quotation. The words count
 * only at the very beginning, where no essay has them. Null if all of it is reasoning.
 */
function readPlainReasoning(written: string, isComplete: boolean): PlainStart | null {
  if (/^\s*(?:start)?(?:assistant)?(?:channel)?(?:analysis|commentary)/.test(written)) {
    const final = written.search(/assistantfinal|channelfinalmessage/);
    if (final !== -1) return readFinal(written.slice(final));
    // Even without an end: no sentence begins like "analysisWe need", and a title is followed by an empty line.
    if (!isComplete || /^\s*[a-z]*(?:analysis|commentary)(?:\p{L}|\n\S)/u.test(written)) return null;
  }
  if (/^\s*(?:(?:start)?(?:assistantfinal|(?:assistant)?channelfinalmessage)|final(?=\p{Lu}))/u.test(written))
    return readFinal(written);
  const final = written.search(/(?<=[\n.!?…"”')\]][ \t]?)assistantfinal(?=[\p{Lu}\p{Lo}*#\n])/u);
  if (final !== -1) return readFinal(written.slice(final));
  const quotation = quotedThought.exec(written)?.[0];
  if (quotation !== undefined) {
    const text = written.slice(quotation.length);
    return isComplete || text !== '' ? { text, isSettled: true } : null;
  }
  if (/^\s*Here(?:'s| is) my thought process:/i.test(written)) {
    const response = /Here(?:'s| is) my (?:response|answer):/i.exec(written);
    return response && { text: written.slice(response.index + response[0].length), isSettled: true };
  }
  return { text: written, isSettled: false };
}

/** `*Thinking...*` and a quotation, as some proxies show reasoning. */
const quotedThought = /^\s*[*_]{0,3}Thinking(?:\.{3}|…)[*_]{0,3}[ \t]*\n\s*(?:>[^\n]*(?:\n\s*|$))+/;

/** The final message, without others that follow it. */
function readFinal(written: string): PlainStart {
  const text = written.replace(/^\s*(?:start)?(?:assistant)?(?:channelfinalmessage|final)/, '');
  return { text: dropNextMessages(text), isSettled: true };
}

/** Without the messages that follow it, if their tokens were lost. */
export function dropNextMessages(text: string): string {
  const [answer = ''] = text.split(/(?:(?:end)?start)?assistant(?:channel)?(?:analysis|commentary|final)/, 1);
  // The tokens for the end of a message, without their brackets.
  return answer.replace(/(?<=[^\s\p{L}])(?:end|return)\s*$/u, '');
}

/** Collects the visible ranges of a text, marker by marker. */
function createAnswer(
  written: string,
  markers: readonly Marker[],
  { isComplete, isSettled: isSettledAtStart, tag }: { isComplete: boolean; isSettled: boolean; tag: string | null },
) {
  /** The last index at which each kind of block is closed. */
  const closedAt = new Map(
    markers.filter(({ kind }) => kind === 'thought-end').map(({ name, index }) => [name, index]),
  );
  const closingFences = markers
    .filter(({ kind, name }) => kind === 'fence' && name === '')
    .map(({ index, end }) => ({ index, fence: readFenceOf(index, end) }));
  // A marker that begins before this index is complete.
  const limit = isComplete ? written.length : Math.max(0, written.length - maxMarkerLength);
  let ranges: { start: number; end: number }[] = [];
  let position = 0;
  /** The blocks of reasoning that are open, from the outermost to the innermost. */
  let open: Pick<Marker, 'kind' | 'name'>[] = [];
  let hasText = false;
  let isSettled = isSettledAtStart;
  /** A message has ended; a final one may follow. */
  let isPaused = false;
  let isEnded = false;
  let answerTag = tag;
  let strikes = 0;
  /** The end of a fence within the text, in which markers are examples. */
  let fencedUntil = 0;
  /** Whether a fence began before all text, so that it may be around all of it. */
  let isFenced = false;
  /** What came before a closing tag without an opening one. */
  let dropped: typeof ranges = [];

  return { read, hasEnded: () => isEnded, finish };

  function read(marker: Marker): void {
    addTextUntil(marker.index);
    if (apply(marker)) position = marker.end;
  }

  function finish(): CleanedAnswer {
    const endsIn = isEnded || isPaused ? 'rest' : open.length > 0 ? 'thought' : 'text';
    addTextUntil(written.length);
    // A closing tag at the end.
    if (!hasText && dropped.length > 0) ranges = dropped;
    const state = isEnded ? 'ended' : isSettled ? 'settled' : 'open';
    const text = joinRanges(written, ranges);
    return { text: endsIn === 'text' ? text.replace(incompleteToken, '').trimEnd() : text, state, endsIn };
  }

  function addTextUntil(index: number): void {
    const end = Math.min(index, limit);
    if (end > position && !isEnded && !isPaused && open.length === 0) {
      const last = ranges.at(-1);
      if (last?.end === position) last.end = end;
      else ranges.push({ start: position, end });
      hasText ||= /\S/.test(written.slice(position, end));
    }
    position = Math.max(position, index);
  }

  /** @returns false if the marker is part of the text */
  function apply(marker: Marker): boolean {
    const { kind, name } = marker;
    if (isMention(marker)) return false;
    switch (kind) {
      case 'thought':
        return begin({ kind, name });
      case 'thought-end':
        return endThought(name);
      case 'fence':
        return readFence(marker);
      case 'channel':
        endChannel();
        return begin({ kind, name });
      case 'answer':
        return beginAnswer();
      case 'answer-tag':
        if (hasText || open.length > 0) return false;
        answerTag ??= name;
        return true;
      case 'answer-tag-end':
        return answerTag === name && open.length === 0 && endTurn();
      case 'message':
        endChannel();
        return !hasText || pause();
      case 'message-end':
        return endMessage();
      case 'turn':
        return (open.length === 0 && !hasText) || endTurn();
      case 'end':
        // A thought in a message of its own ends with the message.
        return name !== 'role' && open.at(-1)?.name === 'role' ? endThoughtMessage() : endTurn();
      case 'instruction-end':
        return !hasText || endTurn();
      case 'strike':
        // At the beginning, it is the token that begins a text.
        if (hasText) strikes += 1;
        return !hasText;
      case 'strike-end':
        if (strikes === 0) return endTurn();
        strikes -= 1;
        return false;
      case 'noise':
        return true;
    }
  }

  /** Whether it is a word of the text, as its partner is missing where only the partner would make it a marker. */
  function isMention({ kind, name, alone, index, end }: Marker): boolean {
    if (index < fencedUntil) return true;
    const before = written.slice(Math.max(0, index - 10), index);
    const after = written.slice(end, end + 15);
    if (alone === undefined) return open.length === 0 && isPartOfTurn(kind, name) && isBetweenWords(before, after);
    if (kind === 'thought-end') return !open.some((block) => block.name === name);
    if (!isComplete || (closedAt.get(name) ?? 0) > index) return false;
    if (alone === 'at-start') return hasText || open.length > 0;
    return alone === 'nowhere' || isWithinSentence(before, after);
  }

  function begin(block: Pick<Marker, 'kind' | 'name'>): boolean {
    // So many are not reasoning of a model, and searching them would take long.
    if (open.length === maxDepth) return endTurn();
    open.push(block);
    return true;
  }

  function endThought(name: string): boolean {
    if (open.length > 0) {
      const index = open.findLastIndex((block) => block.name === name);
      open.length = index === -1 ? open.length - 1 : index;
      if (open.length === 0 && !hasText) isSettled = true;
      return true;
    }
    if (tag !== null) return true;
    // The opening tag is in the prompt, or reasoning went on after it was closed: all text before is reasoning.
    if (isSettled && hasText) dropped = ranges;
    dropText();
    isSettled = true;
    return true;
  }

  /** Only fences of reasoning, and those in them, are markers. */
  function readFence({ name: language, index, end }: Marker): boolean {
    const fence = readFenceOf(index, end);
    const isIn = (other: Pick<Marker, 'kind' | 'name'>) => other.kind === 'fence';
    const isInThought = open.some(isIn);
    if (isInThought && language === '') {
      // A shorter fence than that around it begins another one.
      const shorter = open.findLast((other) => isIn(other) && fence.startsWith(other.name));
      const closed = open.findLast(({ name }) => name === fence) ?? shorter;
      if (closed) return endThought(closed.name);
    }
    const isThought = /^(?:think|thinking|thoughts?|reasoning)\b/i.test(language);
    if (isInThought || isThought) return begin({ kind: 'fence', name: fence });
    if (open.length === 0) readFenceInText(fence, language, end);
    return false;
  }

  function readFenceOf(start: number, end: number): string {
    return written.slice(start, end).match(/`+|~+/)?.[0] ?? '';
  }

  function readFenceInText(fence: string, language: string, start: number): void {
    if (!hasText || (isFenced && language === '')) {
      isFenced = !hasText;
      return;
    }
    const close = closingFences.find(({ fence: other, index }) => index >= start && other.startsWith(fence));
    const end = close ? close.index + 1 : isComplete ? 0 : written.length;
    const thought = markers.find(
      ({ kind, index }) => index > start && index < end && (kind === 'thought' || kind === 'thought-end'),
    );
    // Reasoning that began in the prompt may end within a fence that it did not close.
    if (isSettled || thought?.kind !== 'thought-end') fencedUntil = end;
  }

  /** What came before was not the answer, unless it follows reasoning that has ended. */
  function beginAnswer(): boolean {
    open = [];
    if (isSettled && hasText) return endTurn();
    dropText();
    isPaused = false;
    isSettled = true;
    return true;
  }

  function endMessage(): boolean {
    const last = open.at(-1);
    if (last?.kind === 'channel' || last?.name === 'token' || last?.name === 'role') return endThoughtMessage();
    if (open.length > 0) return endTurn();
    return !hasText || pause();
  }

  function endThoughtMessage(): boolean {
    const isChannel = open.pop()?.kind === 'channel';
    // After a channel, the answer is in the final one.
    if (!isChannel && open.length === 0 && !hasText) isSettled = true;
    return true;
  }

  function endChannel(): void {
    open = open.filter((block) => block.kind !== 'channel');
  }

  function pause(): boolean {
    if (isSettled) return endTurn();
    isPaused = true;
    return true;
  }

  function endTurn(): boolean {
    isEnded = true;
    return true;
  }

  function dropText(): void {
    ranges = [];
    hasText = false;
  }
}

/** At the end of a text that was cut off within it. */
const incompleteToken = /<[|｜/][\w▁|｜]{0,40}$/;

/** Whether it ends reasoning or a turn, or begins one without its role. */
function isPartOfTurn(kind: Marker['kind'], name: string): boolean {
  if (kind === 'thought-end') return !/^(?:details|unused|channel)$/.test(name);
  return ['end', 'message-end', 'instruction-end', 'strike-end', 'turn'].includes(kind) && name !== 'role';
}

/** Stricter than `isWithinSentence`: reasoning may end without a full stop, and the text after it begins with a capital. */
function isBetweenWords(before: string, after: string): boolean {
  return (
    /[\p{L}\p{N},;:][ \t]{1,3}$/u.test(before) &&
    /^(?:[ \t]{1,3}(?!(?:user|human|system|assistant|model)\b)\p{Ll}|[.,;](?:\s|$))/u.test(after)
  );
}

function isWithinSentence(before: string, after: string): boolean {
  return /[\p{L}\p{N},;("“'‘–—-][ \t]{0,3}$/u.test(before) && /^(?:[ \t]{1,3}\S|[.,;:)'’"”-])/.test(after);
}

/** Deeper reasoning does not exist. */
const maxDepth = 50;

/** Where something was removed between two ranges, the longer white space of both sides remains. */
function joinRanges(written: string, ranges: readonly { start: number; end: number }[]): string {
  const parts: string[] = [];
  let space = '';
  for (const { start, end } of ranges) {
    const range = written.slice(start, end);
    const text = range.trim();
    space = longerSpace(space, range.slice(0, Math.min(maxSpace, range.length - range.trimStart().length)));
    if (text === '') continue;
    if (parts.length > 0) parts.push(space);
    parts.push(text);
    space = range.slice(range.trimEnd().length).slice(0, maxSpace);
  }
  return parts.join('');
}

/** In characters. */
const maxSpace = 20;

/** By line breaks, then by length. */
function longerSpace(one: string, other: string): string {
  const difference = countLineBreaks(other) - countLineBreaks(one) || other.length - one.length;
  return difference > 0 ? other : one;
}

function countLineBreaks(space: string): number {
  return space.split('\n').length;
}

/** Removes a fence around the whole text; without its end, if the text was cut off. A fence around a part of it remains. */
function removeFence(text: string): string {
  if (!fenceLine.test(text)) return text;
  const lines = text.split('\n');
  let depth = 0;
  for (const [index, line] of lines.entries()) {
    if (!fenceLine.test(line)) continue;
    const isOpening = depth === 0 || /[\p{L}\p{N}]/u.test(line);
    depth += isOpening ? 1 : -1;
    if (depth > 0) continue;
    return index === lines.length - 1 ? lines.slice(1, -1).join('\n').trim() : text;
  }
  return lines.slice(1).join('\n').trim();
}

const fenceLine = /^[ \t]{0,3}(?:`{3,}|~{3,})[ \t]*[^\n`]{0,40}(?:\n|$)/;
