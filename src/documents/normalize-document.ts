import { Lexer, Source, type Token, TokenKind } from 'graphql';

/**
 * The tokens of a document without layout, comments, and the `__typename` fields that client libraries add to it.
 * Documents with the same tokens request the same data. Reading tokens takes less time than parsing, and stops at the
 * maximum length of the result.
 * @returns null if the result would be longer, or the text contains something that is not a token
 */
export function normalizeDocument(text: string, maxLength = Number.POSITIVE_INFINITY): string | null {
  const lexer = new Lexer(new Source(text));
  const kept: string[] = [];
  const depth = { braces: 0, parentheses: 0 };
  let length = 0;
  let previous: Token | null = null;
  const keep = (text: string) => {
    length += text.length + 1;
    kept.push(text);
  };
  try {
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
      const { kind } = token;
      if (kind === TokenKind.PAREN_L) depth.parentheses += 1;
      if (kind === TokenKind.PAREN_R) depth.parentheses -= 1;
      if (kind === TokenKind.BRACE_L) depth.braces += 1;
      if (kind === TokenKind.BRACE_R) depth.braces -= 1;
      // { __typename } alone was not added.
      if (kind === TokenKind.BRACE_R && previous?.value === typename && kept.at(-1) === '{') keep(typename);
      const next = lexer.lookahead().kind;
      const isRemoved =
        (depth.parentheses === 0 && isAddedTypename(previous, token, next)) ||
        (depth.braces === 0 && isOptionalKeyword(previous, token, next));
      if (!isRemoved) keep(textOf(token));
      if (length > maxLength) return null;
      previous = token;
    }
  } catch {
    return null;
  }
  return kept.join(' ');
}

/** Whether it is a field without an alias and without directives, and not another name. */
function isAddedTypename(previous: Token | null, { kind, value }: Token, next: TokenKind): boolean {
  if (kind !== TokenKind.NAME || value !== typename) return false;
  return !beforeOtherNames.has(previous?.kind) && !afterOtherNames.has(next);
}

const typename = '__typename';
const beforeOtherNames = new Set<TokenKind | undefined>([TokenKind.COLON, TokenKind.SPREAD, TokenKind.AT]);
const afterOtherNames = new Set([TokenKind.COLON, TokenKind.PAREN_L, TokenKind.AT, TokenKind.BRACE_L]);

/** Whether it is the `query` in `query { ... }`. */
function isOptionalKeyword(previous: Token | null, { kind, value }: Token, next: TokenKind): boolean {
  if (kind !== TokenKind.NAME || value !== 'query' || next !== TokenKind.BRACE_L) return false;
  return previous === null || previous.kind === TokenKind.BRACE_R;
}

function textOf({ kind, value }: Token): string {
  if (kind === TokenKind.STRING || kind === TokenKind.BLOCK_STRING) return JSON.stringify(value);
  return value ?? kind;
}
