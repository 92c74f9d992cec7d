import type { CheckDigitArithmetic } from './check-digit-arithmetic.ts';

/** Replaces `removed` characters at an index by other text. */
interface Edit {
  at: number;
  removed: number;
  inserted: string;
}

interface EditLimits extends CheckDigitArithmetic {
  /** Whether an edit at an index may change the length of the text by -1, 0 or 1. */
  mayGrow: (growth: number, at: number) => boolean;
}

/** The edits that may correct one typo, by index: two neighbours are swapped, or a character is replaced, removed or inserted. */
export function* listEdits(text: string, { mayGrow, findCharacters, maySwap }: EditLimits): Generator<Edit> {
  for (let at = 0; at <= text.length; at += 1) {
    const current = text.charAt(at);
    const next = text.charAt(at + 1);
    if (current !== '' && mayGrow(0, at)) {
      if (next !== '' && next !== current && maySwap(at)) yield { at, removed: 2, inserted: next + current };
      for (const inserted of findCharacters(at, 1)) if (inserted !== current) yield { at, removed: 1, inserted };
    }
    if (current !== '' && mayGrow(-1, at)) yield { at, removed: 1, inserted: '' };
    if (mayGrow(1, at)) for (const inserted of findCharacters(at, 0)) yield { at, removed: 0, inserted };
  }
}

export function applyEdit(text: string, { at, removed, inserted }: Edit): string {
  return text.slice(0, at) + inserted + text.slice(at + removed);
}

/**
 * How unlikely the typo is that an edit corrects: 0 for swapped neighbours and lookalikes, 1 for a doubled character or
 * a missing double, 2 for another extra or missing character, 3 for any other.
 */
export function rankEdit(text: string, { at, removed, inserted }: Edit): number {
  if (removed === 2 || (removed === 1 && areLookAlikes(text.charAt(at), inserted))) return 0;
  if (removed === 1 && inserted !== '') return 3;
  const neighbours = [text.charAt(at - 1), text.charAt(at + removed)];
  return neighbours.includes(inserted || text.charAt(at)) ? 1 : 2;
}

/** Groups of characters that readers confuse. */
const lookAlikes = '0ODQ 1IL 17 2Z 5S 6G 8B UV VY VW MN'.split(' ');

function areLookAlikes(one: string, other: string): boolean {
  return other !== '' && lookAlikes.some((group) => group.includes(one) && group.includes(other));
}
