import { listMarkers, type Marker } from './markers.ts';
import { removeFence, removeRemarks } from './remarks.ts';

export interface CleanedAnswer {
  /** Without reasoning, markers, other turns, remarks to the reader, and a fence around all of it. */
  text: string;
  /**
   * Whether more text can change the beginning of this one. `open`: it may be reasoning, whose opening tag is in the prompt; `settled`:
   * the reasoning has ended; `certain`: a tag has begun the essay; `plain`: nothing but text follows it; `ended`: another turn follows.
   */
  state: 'open' | 'settled' | 'certain' | 'plain' | 'ended';
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
  // Control characters but line breaks and tabs, and lone halves of surrogate pairs.
  const written = answer.replaceAll(/\r\n?/g, '\n').replaceAll(/(?![\n\t])[\p{Cc}\p{Cs}]/gu, '');
  const markers = listMarkers(written);
  if (!markers) return { text: '', state: 'open', endsIn: 'thought', isTagged: false };
  const limit = isComplete ? written.length : findPossibleMarker(written, markers.at(-1)?.end ?? 0);
  const reading = new Reading(written);
  for (const marker of markers) if (marker.index <= limit) reading.read(marker);
  return reading.end(limit, isComplete);
}

/** The index from which on a text may have a marker that is not complete, or a mention of one. Words such as `assistantfinal` are short. */
function findPossibleMarker(text: string, from: number): number {
  const start = Math.max(from, text.length - 400);
  const index = text.slice(start).search(/[<＜`[({【◁\\*]|&lt;|~{3}/);
  return Math.max(0, Math.min(index === -1 ? text.length : start + index, text.length - 60));
}

/** Reads an answer from one marker to the next. */
class Reading {
  readonly #written: string;
  #position = 0;
  /** What was written for the reader, with a zero where something was removed. */
  #text = '';
  /** The names of the blocks of reasoning that are open, from the outermost to the innermost. */
  #open: string[] = [];
  #tag: string | null = null;
  /** Whether a message has ended; a final one may follow. */
  #isPaused = false;
  #state: CleanedAnswer['state'] = 'open';

  constructor(written: string) {
    this.#written = written;
  }

  read(marker: Marker): void {
    if (this.#state === 'ended') return;
    this.#addText(marker.index);
    if (this.#state === 'plain') this.#state = 'certain';
    if (this.#isMention(marker) || !this.#apply(marker)) return;
    this.#position = marker.end;
    this.#text += '\0';
  }

  end(limit: number, isComplete: boolean): CleanedAnswer {
    this.#addText(limit);
    const text = closeGaps(this.#text);
    const isTagged = this.#tag === 'essay';
    // A fence at the start may be around all of the text, or around a part of it.
    const state = this.#state === 'plain' && /^[`~]{3}/.test(text) ? 'certain' : this.#state;
    const cleaned = isTagged || !isComplete ? removeFence(text) : removeRemarks(text);
    return { text: cleaned, state, endsIn: this.#isIn, isTagged };
  }

  #addText(end: number): void {
    if (this.#isIn === 'text') this.#text += this.#written.slice(this.#position, end);
    this.#position = Math.max(this.#position, end);
  }

  get #isIn(): CleanedAnswer['endsIn'] {
    if (this.#state === 'ended' || this.#isPaused) return 'rest';
    return this.#open.length > 0 ? 'thought' : 'text';
  }

  get #hasText(): boolean {
    return /[^\s\0]/.test(this.#text);
  }

  /** Whether a sentence mentions the marker: reasoning may end without a full stop, but a capital follows it. */
  #isMention({ kind, index, end }: Marker): boolean {
    if (this.#open.length > 0 || !this.#hasText || ['channel', 'answer', 'noise'].includes(kind)) return false;
    const around = `${this.#written.slice(Math.max(0, index - 10), index)}\0${this.#written.slice(end, end + 15)}`;
    return /[\p{L}\p{N},;:][ \t]{1,3}\0(?:[ \t]{1,3}(?!(?:user|human|system|assistant|model)\b)\p{Ll}|[.,;](?:\s|$))/u.test(
      around,
    );
  }

  /** @returns false if the marker is a part of the text */
  #apply({ kind, name }: Marker): boolean {
    const isAnswered = this.#hasText && this.#state !== 'open';
    const actions: Record<Marker['kind'], () => unknown> = {
      noise: () => true,
      mention: () => false,
      thought: () => this.#open.push(name),
      'thought-end': () => this.#endThought(name),
      channel: () => (isAnswered ? this.#endTurn() : this.#open.push('channel')),
      answer: () => (isAnswered ? this.#endTurn() : this.#restart('settled')),
      tag: () => this.#open.length > 0 || this.#beginTag(name),
      'tag-end': () => this.#open.length > 0 || this.#endTag(name),
      turn: () => (this.#hasText ? this.#isPaused || this.#endTurn() : this.#pause(false)),
      'message-end': () => (isAnswered ? this.#endTurn() : this.#pause(true)),
      end: () => (this.#hasText ? this.#endTurn() : this.#pause(true)),
    };
    return actions[kind]() !== false;
  }

  #endThought(name: string): void {
    if (this.#open.length > 0) {
      // With another name, it closes the innermost one.
      this.#open.splice(this.#open.lastIndexOf(name));
      if (this.#open.length === 0 && !this.#hasText && this.#state === 'open') this.#state = 'settled';
    } else if (this.#state !== 'certain') {
      // The opening tag is in the prompt, or reasoning went on after it was closed: all text before is reasoning.
      this.#tag = null;
      this.#restart('settled');
    }
  }

  #beginTag(name: string): boolean {
    if (this.#state === 'certain' || (name !== 'essay' && this.#hasText)) return false;
    this.#tag = name;
    // After text, it may be part of reasoning whose opening tag is in the prompt.
    const isFirst = removeFence(closeGaps(this.#text)) === '';
    if (name === 'essay') this.#restart(isFirst ? 'plain' : this.#state);
    return true;
  }

  #endTag(name: string): boolean {
    if (this.#tag !== name) return false;
    // A model may put only the title between the tags.
    if (!/[.!?…。！？؟।\n]/u.test(closeGaps(this.#text))) return true;
    if (this.#state === 'certain' || name !== 'essay') this.#endTurn();
    else this.#isPaused = true;
    return true;
  }

  #restart(state: CleanedAnswer['state']): void {
    this.#text = '';
    this.#state = state;
    this.#pause(false);
  }

  #pause(isPaused: boolean): void {
    this.#open = [];
    this.#isPaused = isPaused;
  }

  #endTurn(): void {
    this.#state = 'ended';
  }
}

/** Where something was removed, the longer white space of both sides remains. */
function closeGaps(text: string): string {
  const close = (gap: string) => gap.split('\0').reduce((a, b) => (b.length > a.length ? b : a));
  return text.replaceAll(/[\s\0]+/g, (gap) => (gap.includes('\0') ? close(gap) : gap)).trim();
}
