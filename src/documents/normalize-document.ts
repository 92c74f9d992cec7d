import { Lexer, Source, TokenKind } from 'graphql';

/**
 * The tokens of a document without layout, comments, and the `__typename` fields that client libraries add to it.
 * Documents with the same tokens request the same data. Null if it has more tokens than `maxTokens`, or a text that is
 * not a token: that takes less time than parsing it.
 */
export function normalizeDocument(text: string, maxTokens = Number.POSITIVE_INFINITY): string | null {
  const tokens: string[] = [];
  /** Of all open brackets, whether a bracket opens a selection set, and only `__typename` was read in it. */
  const open: { isSelection: boolean; isBare: boolean }[] = [];
  const lexer = new Lexer(new Source(text));
  try {
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
      if (tokens.length > maxTokens) return null;
      // TODO
    }
  } catch {
    return null;
  }
  return tokens.join(' ');
}
