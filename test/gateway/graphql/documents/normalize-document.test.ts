import { addTypenameToDocument } from '@apollo/client/utilities';
import { Kind, Lexer, parse, print, Source, type Token, TokenKind, visit } from 'graphql';
import { describe, expect, it } from 'vitest';
import { normalizeDocument } from '../../../../src/gateway/graphql/documents/trusted-documents.ts';

/** Without the end of the text. @throws GraphQLError if a part of it is not a token */
function tokensOf(text: string): Token[] {
  const lexer = new Lexer(new Source(text));
  const tokens: Token[] = [];
  while (lexer.advance().kind !== TokenKind.EOF) tokens.push(lexer.token);
  return tokens;
}

const documents = [
  'query Q($a: [In!] = [{ x: "__typename {", on: __typename }]) @d(a: "\\u0041") { a(x: $a, y: __typename) { b } c: d @e }',
  'query { query { query } } fragment F on query { fragment } { on }',
  '{ a { __typename } } fragment __typename on T { ...__typename x: __typename __typename @include(if: true) }',
  'query __typename { ... on __typename { a } ... @skip(if: false) { __typename: b } __typename: c }',
  'mutation M { a(b: """block "quoted" text""", c: [1, -2.5e3], d: { e: null }) { f ...G } } fragment G on T { g }',
  '{ a(x: [A __typename B]) { b __typename c } __typename d { ...F } }',
];

/** By the syntax tree, as a reference. Null if it is not valid. */
function normalizeByTree(text: string): string | null {
  try {
    const tree = visit(parse(text), {
      StringValue: (node) => ({ ...node, block: false }),
      SelectionSet(node) {
        const selections = node.selections.filter(
          (one) =>
            !(one.kind === Kind.FIELD && one.name.value === '__typename' && !one.alias && !one.directives?.length),
        );
        return { ...node, selections: selections.length === 0 ? node.selections.slice(0, 1) : selections };
      },
    });
    return print(tree);
  } catch {
    return null;
  }
}

describe.each(documents)('a normalized document: %s', (text) => {
  it('is the same with the __typename that clients add, and in any layout', () => {
    const normalized = normalizeDocument(text);
    expect(normalized).not.toBeNull();
    for (const variant of [
      print(parse(text)),
      print(addTypenameToDocument(parse(text))),
      `#\n${text},\n# __typename`,
    ]) {
      expect(normalizeDocument(variant), variant).toBe(normalized);
    }
  });

  it('differs from each document that requests other data', () => {
    const normalized = normalizeDocument(text);
    const reference = normalizeByTree(text);
    const tokens = tokensOf(text);
    const others = tokens.flatMap(({ start, end }) => {
      const [before, own, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)];
      const inserted = ['__typename', ': __typename', 'query', '{', '}', '"x"', '@a', '...'];
      return [`${before} ${after}`, ...inserted.map((other) => `${before}${own} ${other} ${after}`)];
    });
    let same = 0;
    for (const other of others) {
      if (normalizeDocument(other) !== normalized) continue;
      same += 1;
      expect([reference, null], other).toContain(normalizeByTree(other));
    }
    expect(same).toBeGreaterThan(0);
    expect(same).toBeLessThan(others.length / 4);
  });

  it('is not computed past its maximum length', () => {
    const length = normalizeDocument(text)?.length ?? 0;
    expect(normalizeDocument(text, length + 1)).toBe(normalizeDocument(text));
    expect(normalizeDocument(text, length)).toBeNull();
  });
});

it.each(['\u0000', '"open', '{ a ? }', '.'])('a text that contains %j has no normal form', (text) => {
  expect(normalizeDocument(text)).toBeNull();
});
