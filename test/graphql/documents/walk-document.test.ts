import { type ASTNode, Kind, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { describe, expect, it } from 'vitest';
import { type NodeVisitor, walkDocument } from '../../../src/graphql/documents/walk-document.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { createRandom } from '../../support/e2e/random.ts';
import { createRandomQueries } from '../../support/graphql/random-documents.ts';
import { texts } from '../../support/graphql/scripted-services.ts';

/** With every kind of node that an executable document can have. */
const allKinds = `
  query Q($a: [String!]! = ["b", null] @x, $c: I = {d: 1, e: 2.5, f: [G, true]}) @x(a: $a) {
    alias: iban(iban: $c) @skip(if: true) { ...F @x ... on Country @x { name } ... { code } }
  }
  fragment F on Country @x(a: {b: $a}) { name }
  { __typename }`;

describe('the walk through a document', () => {
  it('visits the same nodes as GraphQL.js except names, with the same arguments and types', () => {
    const next = createRandomQueries(schema, createRandom(1), texts);
    const random = Array.from({ length: 50 }, () => next().query);
    for (const document of [allKinds, ...random].map((text) => parse(text))) {
      for (const skipped of [undefined, Kind.VARIABLE_DEFINITION, Kind.FIELD]) {
        const expected: Visit[] = [];
        const typeInfo = new TypeInfo(schema);
        visit(document, visitWithTypeInfo(typeInfo, recordVisits(typeInfo, skipped, expected)));
        const actual: Visit[] = [];
        const walkedTypes = new TypeInfo(schema);
        walkDocument(document, walkedTypes, recordVisits(walkedTypes, skipped, actual));
        expect(actual).toEqual(expected.filter(({ kind }) => kind !== Kind.NAME));
      }
    }
  });
});

interface Visit {
  kind: ASTNode['kind'];
  [part: string]: unknown;
}

function recordVisits(typeInfo: TypeInfo, skipped: ASTNode['kind'] | undefined, visits: Visit[]): NodeVisitor {
  const record = (event: string, node: ASTNode, ...[key, parent, path, ancestors]: unknown[]) => {
    const types = [typeInfo.getType(), typeInfo.getParentType(), typeInfo.getInputType(), typeInfo.getDefaultValue()];
    const depth = (ancestors as unknown[]).length;
    const above = (ancestors as unknown[]).at(-1);
    visits.push({
      event,
      kind: node.kind,
      start: node.loc?.start,
      key,
      parent: kindOf(parent),
      path: [...(path as string[])],
      depth,
      above: kindOf(above),
      types: types.map(String),
    });
  };
  return {
    enter(node, ...rest) {
      record('enter', node, ...rest);
      return node.kind === skipped ? false : undefined;
    },
    leave: (node, ...rest) => record('leave', node, ...rest),
  };
}

function kindOf(value: unknown): unknown {
  return Array.isArray(value) ? value.map(kindOf) : (value as ASTNode | undefined)?.kind;
}
