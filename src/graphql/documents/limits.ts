import { Lexer, Source, TokenKind } from 'graphql';

export interface DocumentLimits {
  /** Tokens (names, braces, strings ...), and lines, per document. */
  tokens: number;
  /** Characters per document. */
  characters: number;
  /** Fields in the response and weights, computed before execution. */
  cost: number;
}

/** Finds why a document would be too expensive to parse; null if it is not. Nested brackets cost the parser stack. */
export function findDocumentProblem(
  text: string,
  { characters, tokens }: Pick<DocumentLimits, 'characters' | 'tokens'>,
): string | null {
  if (text.length > characters) {
    return `A document may have at most ${characters} characters (MAX_QUERY_CHARS); this one has ${text.length}.`;
  }
  if (text.length > tokens && countLines(text) > tokens) {
    return `A document may have at most ${tokens} lines (MAX_QUERY_TOKENS).`;
  }
  // Most documents have few brackets, and are then not split into tokens twice.
  if (hasMoreBrackets(text, maxNesting) && isNestedDeeper(text, maxNesting, tokens))
    return `Brackets may be nested at most ${maxNesting} levels deep.`;
  return null;
}

/** More than any tool writes; the parser's stack ends at about 2,000. */
const maxNesting = 200;

function countLines(text: string): number {
  return text.match(/\r\n|[\n\r]/g)?.length ?? 0;
}

/** Counts opening ones, also in strings and comments. */
function hasMoreBrackets(text: string, count: number): boolean {
  const bracket = /[([{]/g;
  for (let found = 0; bracket.test(text); found += 1) if (found === count) return true;
  return false;
}

function isNestedDeeper(text: string, levels: number, maxTokens: number): boolean {
  const lexer = new Lexer(new Source(text));
  let level = 0;
  try {
    // The parser reports more tokens, and text that is not a token, when it reaches them.
    for (let count = 0; count <= maxTokens; count += 1) {
      const { kind } = lexer.advance();
      if (kind === TokenKind.EOF) return false;
      if (openingBrackets.has(kind)) level += 1;
      if (closingBrackets.has(kind)) level -= 1;
      if (level > levels) return true;
    }
  } catch {
    return false;
  }
  return false;
}

const openingBrackets: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closingBrackets: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);
