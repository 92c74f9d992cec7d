import fc from 'fast-check';
import { buildSchema, getVariableValues, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { expect, it } from 'vitest';
import { createCoercedCheck } from '../../../src/graphql/jit/coerced-variables.ts';

const schema = buildSchema(`
  scalar _Any
  type Query { field(mode: Mode, fields: Fields, any: _Any): Int }
  enum Mode { SHORT }
  input Fields { text: String, id: ID, float: Float, boolean: Boolean }
`);

function definitionsOf(types: readonly string[]) {
  const variables = types.map((type, index) => `$v${index}: ${type}`).join();
  const [operation] = parse(`query (${variables}) { field }`).definitions as [OperationDefinitionNode];
  expect(operation.kind).toBe(Kind.OPERATION_DEFINITION);
  return operation.variableDefinitions ?? [];
}

const { type } = fc.letrec<{ type: string }>((tie) => ({
  type: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('String', 'ID', 'Int', 'Float', 'Boolean', '_Any', 'Mode', 'Fields'),
    tie('type').map((inner) => `[${inner}]`),
    tie('type').map((inner) => (inner.endsWith('!') ? inner : `${inner}!`)),
  ),
}));

const value = fc.oneof(
  fc.constantFrom(undefined, null, '', 'SHORT', true, 0, -0, 1.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), {}, []),
  fc.jsonValue({ maxDepth: 2 }),
  fc.array(fc.oneof(fc.string(), fc.constant(null))),
  fc.array(fc.array(fc.integer())),
);

it('calls variables coerced only if GraphQL.js returns them unchanged', () => {
  let agreed = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(type, value), { minLength: 1, maxLength: 3 }), (pairs) => {
      const definitions = definitionsOf(pairs.map(([type]) => type));
      const sent = Object.fromEntries(
        pairs.flatMap(([, value], index) => (value === undefined ? [] : [[`v${index}`, value]])),
      );
      if (!createCoercedCheck(definitions)({ ...sent, undeclared: 1 })) return;
      agreed += 1;
      expect(getVariableValues(schema, definitions, { ...sent, undeclared: 1 })).toEqual({ coerced: sent });
    }),
    { numRuns: 2_000 },
  );
  expect(agreed).toBeGreaterThan(50);
});

it.each([
  ['[String!]!', ['a', 'b'], true],
  ['[String!]!', ['a', null], false],
  ['[String]', ['a', null], true],
  ['[String]', null, true],
  ['[String!]!', 'a', false],
  ['String!', null, false],
  ['[_Any!]!', [{ __typename: 'Bank' }, 1], true],
  ['[_Any!]!', [null], false],
  ['[_Any!]!', {}, false],
  ['ID', 1, false],
  ['Int', 1.5, false],
  ['Float', 1, true],
  ['Boolean!', true, true],
  ['String = "a"', undefined, false],
  ['String!', undefined, false],
  ['[String!]', undefined, true],
  ['Mode', 'SHORT', false],
])('decides whether %s coerces %j to itself: %s', (type, value, isCoerced) => {
  expect(createCoercedCheck(definitionsOf([type]))({ v0: value })).toBe(isCoerced);
});
