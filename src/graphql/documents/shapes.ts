import type { SourceLocation } from 'graphql';

/** A document without its texts, which clients that use no variables write into it: then each of their documents is new. */
export interface DocumentShape {
  /** The same for documents that differ only in their texts, and different for all others. */
  key: string;
  /** The values of all strings, in the order of the document. */
  texts: readonly string[];
}

/**
 * Finds the shape of a document without parsing it. Strings are recognized by their quotes. Null if there are none, many or long
 * ones, comments, escapes, or empty or block strings, and if a string does not end or has an illegal character.
 */
export function findShape(document: string): DocumentShape | null {
  if (!document.includes('"') || ambiguous.test(document)) return null;
  const parts = document.split('"', maxParts);
  const texts = parts.filter((_, index) => index % 2 === 1);
  if (parts.length === maxParts || parts.length % 2 === 0 || !texts.every(isLegal)) return null;
  const key = parts.filter((_, index) => index % 2 === 0).join('"');
  // The first comment is not in a string, and all that follows it may be.
  return key.includes('#') ? null : { key, texts };
}

function isLegal(text: string): boolean {
  return text.length <= maxCharacters && !illegal.test(text);
}

/** All parts of 20 texts, and one more. */
const maxParts = 2 * 20 + 2;
/** Of a text. Variables and long texts would take memory that the key does not account for. */
const maxCharacters = 200;

/** Escapes, and the quotes of empty and of block strings. */
const ambiguous = /\\|""/;

/** Line breaks and lone surrogates: https://spec.graphql.org/October2021/#StringCharacter */
const illegal = /[\n\r\p{Cs}]/u;

/** Moves a location from one document to another one of the same shape. */
export type MoveLocation = (location: SourceLocation, texts: readonly string[]) => SourceLocation;

/** @param shape of the document from which locations are moved */
export function createMoveLocation({ key, texts }: DocumentShape): MoveLocation {
  const lengths = texts.map(({ length }) => length);
  const starts = findTextStarts(key.split('"'), lengths);

  return ({ line, column }, texts) => {
    let moved = column;
    for (const [index, start] of starts.entries()) {
      if (start.line !== line || start.column > column) continue;
      moved += (texts[index]?.length ?? 0) - (lengths[index] ?? 0);
    }
    return { line, column: moved };
  };
}

/** After the quotes. @param parts between the texts; only these contain line breaks */
function findTextStarts(parts: readonly string[], lengths: readonly number[]): SourceLocation[] {
  let line = 1;
  let column = 1;
  return lengths.map((length, index) => {
    const lines = (parts[index] ?? '').split(/\r\n|[\n\r]/);
    const last = lines.at(-1) ?? '';
    line += lines.length - 1;
    column = (lines.length === 1 ? column : 1) + last.length + 1;
    const start = { line, column };
    column += length + 1;
    return start;
  });
}
