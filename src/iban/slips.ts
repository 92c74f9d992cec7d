import type { FittingCharacters } from './fitting-characters.ts';

/** What turns one text into another that is one slip away: at this index, so many characters become these. */
export interface Slip {
  at: number;
  cut: number;
  put: string;
}

export interface SlipLimits {
  /** Whether the text may become so many characters longer (-1, 0 or 1) at an index. */
  hasRoom: (growth: number, at: number) => boolean;
  /** The characters worth putting there. */
  fitting: FittingCharacters;
}

/**
 * What may undo one slip in a compacted text, place by place: two neighbours change places, or a character is replaced
 * by another, taken out, or put in.
 */
export function* slipsIn(text: string, { hasRoom, fitting }: SlipLimits): Generator<Slip> {
  for (let at = 0; at <= text.length; at += 1) {
    const own = text.charAt(at);
    const next = text.charAt(at + 1);
    if (own !== '' && hasRoom(0, at)) {
      if (next !== '' && next !== own) yield { at, cut: 2, put: next + own };
      for (const put of fitting(at, 1)) if (put !== own) yield { at, cut: 1, put };
    }
    if (own !== '' && hasRoom(-1, at)) yield { at, cut: 1, put: '' };
    if (hasRoom(1, at)) for (const put of fitting(at, 0)) yield { at, cut: 0, put };
  }
}

/** The text without the slip. */
export function undo(text: string, { at, cut, put }: Slip): string {
  return text.slice(0, at) + put + text.slice(at + cut);
}

/**
 * How far-fetched a slip is, from 0 to 3: two neighbours swapped or a look-alike, a character doubled or one of two
 * alike left out, one too many or too few, and any other.
 */
export function rankSlip(text: string, { at, cut, put }: Slip): number {
  if (cut === 2 || (cut === 1 && areLookAlikes(text.charAt(at), put))) return 0;
  if (cut === 1 && put !== '') return 3;
  const neighbours = [text.charAt(at - 1), text.charAt(at + cut)];
  return neighbours.includes(put || text.charAt(at)) ? 1 : 2;
}

/** Characters that are taken for each other when read, one group a word. */
const lookAlikes = '0ODQ 1IL 17 2Z 5S 6G 8B UV VY VW MN'.split(' ');

function areLookAlikes(one: string, other: string): boolean {
  return other !== '' && lookAlikes.some((group) => group.includes(one) && group.includes(other));
}
