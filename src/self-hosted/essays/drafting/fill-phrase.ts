import { countWords } from '../words.ts';
import { capitalise, type Phrase } from './phrase.ts';

/** What goes into a phrase, by slot; null where there is nothing that would read well. */
export type Slots = Readonly<Record<string, string | null>>;

const numbers = [
  'no',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];
const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

/** A phrase with its slots filled, as a sentence; null when it has a slot that there is nothing for. */
export function fillPhrase(template: string, slots: Slots): string | null {
  let isComplete = true;
  const text = template.replace(/\{(\w+)\}/g, (_slot, name: string) => {
    const value = slots[name] ?? null;
    if (value === null) isComplete = false;
    return value ?? '';
  });
  // A phrase that ends in a mark of its own ("etc.", "Why?") keeps it and needs none of ours.
  return isComplete ? capitalise(text.replace(/([.!?。！？])\.$/u, '$1')) : null;
}

export function namePoints(count: number): string {
  return `${numbers[count] ?? count} points`;
}

export function nameAllPoints(count: number): string {
  return count === 2 ? 'both points' : `all ${namePoints(count)}`;
}

/** "second", "third"; beyond the tenth only that it is a further one. */
export function nameOrdinal(index: number): string {
  return ordinals[index] ?? 'further';
}

/** "a, b and c"; null when that would be too long to read in passing, or not all of them are noun phrases. */
export function joinList(phrases: readonly Phrase[]): string | null {
  const texts = phrases.map(({ text }) => text);
  const isShort = texts.every((text) => countWords(text) <= 8) && countWords(texts.join(' ')) <= 24;
  if (texts.length === 0 || !isShort || phrases.some(({ kind }) => kind !== 'noun')) return null;
  if (texts.length === 1) return texts[0] ?? null;
  const comma = texts.some((text) => /,|\band\b/.test(text)) ? ', and ' : ' and ';
  return `${texts.slice(0, -1).join(', ')}${comma}${texts.at(-1)}`;
}
