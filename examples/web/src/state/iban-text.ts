/** Normalizes to upper case without spaces, dashes and invisible characters, as the gateway does. */
export function compactIban(text: string): string {
  return text
    .replace(/[\s\p{Dash_Punctuation}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Whether it has a country code, check digits, and between 15 and 34 characters. */
export function isPossibleIban(iban: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban);
}

/** Whether a compacted text has more than an IBAN, such as `IBAN:DE89...` or a sentence with one, which the gateway reads. */
export function isLabelled(text: string): boolean {
  if (text === '' || 'IBAN'.startsWith(text.slice(0, 4)) || /[^A-Z0-9]/.test(text)) return text !== '';
  return !isPossibleIban(text) && /[A-Z]{2}\d{2}[A-Z0-9]{11}/.test(text);
}

/** What the gateway is asked about a text: compacted, of a longer text the part with its only IBAN. */
export function toIbanQuery(text: string): string {
  const compacted = compactIban(text);
  if (compacted.length <= maxQueryLength) return compacted;
  const [start, ...others] = text.matchAll(/(?<![A-Z0-9])[A-Z]{2}\d{2}(?=(?:[\s-]?[A-Z0-9]){11})/gi);
  if (start === undefined || others.length > 0) return compacted.slice(0, maxQueryLength);
  const rest = compactIban(text.slice(start.index));
  return rest.length < maxQueryLength ? compacted.slice(-maxQueryLength) : rest.slice(0, maxQueryLength);
}

/** Of the gateway. */
const maxQueryLength = 64;

/** In groups of four characters. */
export function formatIban(iban: string): string {
  return iban.replace(/.{4}(?=.)/g, '$& ');
}

export interface Edit {
  text: string;
  caret: number;
}

/**
 * Groups a text while it is typed; the caret stays at the same character. A text with a label, or with other characters
 * than letters, digits and spaces, is left as typed.
 * @param isForward the Delete key was pressed: the caret goes behind a space, which cannot be deleted
 */
export function groupWhileTyping({ text, caret }: Edit, isForward = false): Edit {
  if (isLabelled(compactIban(text)) || !/^[\sA-Za-z0-9]*$/.test(text)) return { text, caret };
  const before = text.slice(0, caret).replace(/\s+/g, '').length;
  const grouped = formatIban(text.replace(/\s+/g, ''));
  const spaces = before === 0 ? 0 : Math.floor((isForward ? before : before - 1) / 4);
  return { text: grouped, caret: Math.min(before + spaces, grouped.length) };
}

export interface ListEntry {
  /** As the user wrote it, without spaces around it. */
  typed: string;
  /** Its position in the text. */
  start: number;
  /** What the gateway is asked. */
  iban: string;
}

/** Splits at line breaks, tabs, commas and semicolons. */
export function readEntries(text: string): ListEntry[] {
  return [...text.matchAll(/[^\n\t,;]+/g)]
    .map(({ 0: part, index }) => {
      const start = index + part.length - part.trimStart().length;
      return { typed: part.trim(), start, iban: toIbanQuery(part) };
    })
    .filter(({ iban }) => iban !== '');
}

/** Whether lines have several cells of which some are not IBANs. */
export function isTable(text: string): boolean {
  const entries = readEntries(text);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return entries.length > lines.length && entries.some(({ iban }) => !isPossibleIban(iban));
}

/** Replaces an entry of a text, unless the user has changed it there. The later entries move. */
export function replaceEntry(
  { text, entries }: { text: string; entries: readonly ListEntry[] },
  index: number,
  iban: string,
): { text: string; entries: readonly ListEntry[] } {
  const entry = entries[index];
  if (!entry) return { text, entries };
  const typed = formatIban(iban);
  const replaced = entries.with(index, { ...entry, typed, iban });
  const end = entry.start + entry.typed.length;
  if (text.slice(entry.start, end) !== entry.typed) return { text, entries: replaced };
  const offset = typed.length - entry.typed.length;
  return {
    text: text.slice(0, entry.start) + typed + text.slice(end),
    entries: replaced.map((each, at) => (at > index ? { ...each, start: each.start + offset } : each)),
  };
}
