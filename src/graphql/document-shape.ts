import type { SourceLocation } from 'graphql';

/** A document without its texts, which clients that use no variables write into it: then each of their documents is new. */
export interface DocumentShape {
  /** The same for documents that differ only in their texts, and different for all others. */
  key: string;
  /** The values of all strings, in the order of the document. */
  texts: readonly string[];
}

/**
 * Finds the shape of a document without parsing it. Strings are told by their quotes. Null if there are none, if it has
 * comments, escapes, empty or block strings, or if it is not valid.
 */
export function findShape(document: string): DocumentShape | null {
  if (!document.includes('"') || ambiguous.test(document)) return null;
  const parts = document.split('"');
  const texts = parts.filter((_, index) => index % 2 === 1);
  if (parts.length % 2 === 0 || texts.some((text) => illegal.test(text))) return null;
  const key = parts.filter((_, index) => index % 2 === 0).join('"');
  // The first comment is not in a string, and all that follows it may be.
  return key.includes('#') ? null : { key, texts };
}

/** Escapes, and the quotes of empty and of block strings. */
const ambiguous = /\\|""/;

/** Line breaks and lone surrogates: https://spec.graphql.org/October2021/#StringCharacter */
const illegal = /[\n\r\p{Cs}]/u;

/** Moves a location from one document to another one of the same shape. */
export type MoveLocation = (location: SourceLocation, texts: readonly string[]) => SourceLocation;

export function createMoveLocation({ key, texts: known }: DocumentShape): MoveLocation {
  /** Of the texts of the first document, after their quotes. */
  let starts: readonly SourceLocation[] | undefined;

  return ({ line, column }, texts) => {
    starts ??= findTextStarts(key.split('"'), known);
    let moved = column;
    for (const [index, start] of starts.entries()) {
      if (start.line !== line || start.column > column) continue;
      moved += (texts[index]?.length ?? 0) - (known[index]?.length ?? 0);
    }
    return { line, column: moved };
  };
}

/** @param parts between the texts; only these contain line breaks */
function findTextStarts(parts: readonly string[], texts: readonly string[]): SourceLocation[] {
  let line = 1;
  let column = 1;
  return texts.map((text, index) => {
    const lines = (parts[index] ?? '').split(/\r\n|[\n\r]/);
    const last = lines.at(-1) ?? '';
    line += lines.length - 1;
    column = (lines.length === 1 ? column : 1) + last.length + 1;
    const start = { line, column };
    column += text.length + 1;
    return start;
  });
}
