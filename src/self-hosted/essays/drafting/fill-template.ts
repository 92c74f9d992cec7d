import { countWords } from '../../../words.ts';
import { capitalise, type Phrase } from './phrase.ts';

/** The texts for a template, by slot; null if there is none that would read well. */
export type Slots = Readonly<Record<string, string | null>>;

/** Fills the slots of a template, as a sentence; null if a slot has no text. */
export function fillTemplate(template: string, slots: Slots): string | null {
  let isComplete = true;
  const text = template.replace(/\{(\w+)\}/g, (_slot, name: string) => {
    const value = slots[name] ?? null;
    if (value === null) isComplete = false;
    return value ?? '';
  });
  // A text that ends with its own mark ("etc.", "Why?") keeps it and needs no full stop.
  return isComplete ? capitalise(text.replace(/([.!?。！？])\.$/u, '$1')) : null;
}

export function namePoints(count: number): string {
  return `${numbers[count] ?? count} points`;
}

export function nameAllPoints(count: number): string {
  return count === 2 ? 'both points' : `all ${namePoints(count)}`;
}

/** "second", "third"; "further" after the tenth. */
export function nameOrdinal(index: number): string {
  return ordinals[index] ?? 'further';
}

/** "a, b and c"; null if that would be too long, or if not all of them are noun phrases. */
export function joinList(phrases: readonly Phrase[]): string | null {
  const texts = phrases.map(({ text }) => text);
  const isShort = texts.every((text) => countWords(text) <= 8) && countWords(texts.join(' ')) <= 24;
  if (texts.length === 0 || !isShort || phrases.some(({ kind }) => kind !== 'noun')) return null;
  if (texts.length === 1) return texts[0] ?? null;
  const comma = texts.some((text) => /,|\band\b/.test(text)) ? ', and ' : ' and ';
  return `${texts.slice(0, -1).join(', ')}${comma}${texts.at(-1)}`;
}

const numbers = 'no one two three four five six seven eight nine ten eleven twelve'.split(' ');
const ordinals = 'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ');
