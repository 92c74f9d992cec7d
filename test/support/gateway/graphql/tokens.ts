import { Lexer, Source, type Token, TokenKind } from 'graphql';

/** Without the end of the text. @throws GraphQLError if a part of it is not a token */
export function tokensOf(text: string): Token[] {
  const lexer = new Lexer(new Source(text));
  const tokens: Token[] = [];
  while (lexer.advance().kind !== TokenKind.EOF) tokens.push(lexer.token);
  return tokens;
}
