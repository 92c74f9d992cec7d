import { type Token, TokenKind } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createMoveLocation, findShape } from '../../../src/graphql/documents/shapes.ts';
import { createRandom } from '../../support/e2e/random.ts';
import { tokensOf } from '../../support/graphql/tokens.ts';

const random = createRandom(1);
const pick = <T>(choices: readonly T[]): T => choices[random(choices.length - 1)] as T;

describe('the shape of a document', () => {
  it('has the same key exactly for valid documents that differ only in their texts', () => {
    const valid = ['"x"', '"y z"', '"{,"', '"#"', '"😀"', 'a', '{', ',', ' ', '\n'];
    const words = [...valid, ...valid, '"', '#', '\\', '"\\""', '""', '"""', '\uD800'];
    const [shapesByKey, keysByShape] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
    for (let count = 0; count < 40_000; count += 1) {
      const document = Array.from({ length: 1 + random(9) }, () => pick(words)).join('');
      const tokens = tryTokens(document);
      const shape = findShape(document);
      if (tokens === null || shape === null) continue;
      expect(shape.texts).toEqual(tokens.filter(isText).map(({ value }) => value));
      const described = describeShape(document, tokens);
      shapesByKey.set(shape.key, (shapesByKey.get(shape.key) ?? new Set()).add(described));
      keysByShape.set(described, (keysByShape.get(described) ?? new Set()).add(shape.key));
    }
    expect(shapesByKey.size).toBeGreaterThan(1_000);
    expect([...shapesByKey, ...keysByShape].filter(([, others]) => others.size > 1)).toEqual([]);
  });

  it.each([
    '{ a }',
    '{ f(a: "") }',
    '{ f(a: """x""") }',
    '{ f(a: "\\u0041") }',
    '{ f(a: "x") } # "y"',
    '# "\n{ f(a: "x") }',
    '{ f(a: "x',
    '{ f(a: "x\ny") }',
    '{ f(a: "x\ry") }',
    '{ f(a: "\uD800") }',
  ])('is none for %j', (document) => {
    expect(findShape(document)).toBeNull();
  });

  it('moves locations from one of its documents to another', () => {
    const parts = ['{ a(b: ', ',', ' c: [', '\n ', '\r\n', '\r', '])} d'];
    for (let count = 0; count < 2_000; count += 1) {
      const used = Array.from({ length: 2 + random(6) }, () => pick(parts));
      const [one, other] = [createDocument(used), createDocument(used)];
      const shape = findShape(one);
      const texts = findShape(other)?.texts;
      if (!shape || !texts) throw new Error(`without a shape: ${one}`);
      const move = createMoveLocation(shape);
      const moved = tokensOf(one).map(({ line, column }) => move({ line, column }, texts));
      expect(moved, JSON.stringify([one, other])).toEqual(
        tokensOf(other).map(({ line, column }) => ({ line, column })),
      );
    }
  });
});

function createDocument(parts: readonly string[]): string {
  return parts.map((part, index) => (index === 0 ? part : `"${'x'.repeat(1 + random(4))}"${part}`)).join('');
}

function describeShape(document: string, tokens: readonly Token[]): string {
  let described = '';
  let end = 0;
  for (const token of tokens.filter(isText)) {
    described += `${document.slice(end, token.start)}<text>`;
    end = token.end;
  }
  return described + document.slice(end);
}

function isText({ kind }: Token): boolean {
  return kind === TokenKind.STRING;
}

function tryTokens(document: string): Token[] | null {
  try {
    return tokensOf(document);
  } catch {
    return null;
  }
}
