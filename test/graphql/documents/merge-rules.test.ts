import { type ASTNode, BREAK, Kind, parse, type ValidationRule, visit, visitInParallel } from 'graphql';
import { describe, expect, it } from 'vitest';
import { mergeRules } from '../../../src/graphql/documents/merge-rules.ts';

describe('merged rules', () => {
  it('skip descendants and end visits as visitInParallel does', () => {
    const document = parse('{ a { b { c } } d(e: 1) f }');
    const results = [undefined, false, BREAK];
    for (const [first, second] of results.flatMap((a) => results.map((b) => [a, b] as const))) {
      const record = (visits: string[]): ValidationRule[] => [
        () => ({
          Field: (node) => {
            visits.push(`first enters ${node.name.value}`);
            return node.name.value === 'a' ? first : undefined;
          },
        }),
        () => ({
          enter: (node) => void visits.push(`second enters ${node.kind}`),
          leave: (node: ASTNode) => {
            visits.push(`second leaves ${node.kind}`);
            return node.kind === Kind.SELECTION_SET ? second : undefined;
          },
        }),
        () => ({ Name: { leave: (node) => void visits.push(`third leaves ${node.value}`) } }),
      ];
      const expected: string[] = [];
      const context = undefined as never;
      visit(document, visitInParallel(record(expected).map((rule) => rule(context))));
      const actual: string[] = [];
      visit(document, mergeRules(record(actual))(context));
      expect(actual).toEqual(expected);
      expect(actual).toContain('third leaves f');
    }
  });

  it('are created only for documents with a node that they visit', () => {
    const created: string[] = [];
    const rule = mergeRules([
      () => {
        created.push('fields');
        return { Field() {} };
      },
      () => {
        created.push('arguments');
        return { Argument() {} };
      },
    ]);
    const createdFor = (text: string) => {
      created.length = 0;
      visit(parse(text), rule(null));
      return created;
    };
    // The first document shows which rule visits which kind.
    createdFor('{ a(b: 1) }');
    expect(createdFor('{ a { b } }')).toEqual(['fields']);
    expect(createdFor('{ a(b: 1) { c(d: 1) } }')).toEqual(['fields', 'arguments']);
  });
});
