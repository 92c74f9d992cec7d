import {
  buildSchema,
  type ExecutionResult,
  execute,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  parse,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { describe, expect, it } from 'vitest';
import { compileOperation } from '../../../../src/gateway/graphql/jit/compiler.ts';
import { schema } from '../../../../src/gateway/graphql/schema/schema.ts';
import { tOperation } from '../../../support/gateway/graphql/documents.ts';

/*
 * What graphql-jit does otherwise than GraphQL.js, and that the gateway does not. If a new version of graphql-jit has mended
 * it, the test fails: then what avoids it in src/graphql/jit is not needed any more.
 */

type Resolve = GraphQLFieldResolver<never, unknown>;

interface Bug {
  types: string;
  query: string;
  variables?: Record<string, unknown>;
  /** By type and field. The log is part of the outcome. */
  resolve?: (log: string[]) => Record<string, Resolve>;
  isCompiled: boolean;
}

const show: Resolve = (_, args) => JSON.stringify(args);
const fail = (message: string) => async () => {
  throw new Error(message);
};

const bugs: Record<string, Bug> = {
  'runs the next mutation after a failed one: mutations are not compiled': {
    types: 'type Query { a: Int } type Mutation { first: Int! next: Int }',
    query: 'mutation { first next }',
    resolve: (log) => ({ 'Mutation.first': fail('seeded'), 'Mutation.next': () => log.push('next') }),
    isCompiled: false,
  },
  'merges the conditions of all uses of a fragment: operations with conditions are not compiled': {
    types: 'type Query { a: O b: O } type O { x: Int }',
    query: 'query ($c: Boolean!) { a { ...F @include(if: $c) } b { ...F @skip(if: $c) } } fragment F on O { x }',
    variables: { c: false },
    resolve: () => ({ 'Query.a': () => ({ x: 1 }), 'Query.b': () => ({ x: 2 }) }),
    isCompiled: false,
  },
  'loses an alias named __proto__: such operations are not compiled': {
    types: 'type Query { a: Int }',
    query: '{ __proto__: __typename }',
    isCompiled: false,
  },
  'reads inherited properties as variables: operations with such names are not compiled': {
    types: 'type Query { f(a: String): String }',
    query: 'query ($toString: String) { f(a: $toString) }',
    resolve: () => ({ 'Query.f': show }),
    isCompiled: false,
  },
  'sets fields of an argument for variables that were not sent: arguments are evaluated by GraphQL.js': {
    types: 'type Query { f(a: I): String } input I { b: String = "default", c: String }',
    query: 'query ($b: String, $c: String) { f(a: { b: $b, c: $c }) }',
    resolve: () => ({ 'Query.f': show }),
    isCompiled: true,
  },
  'accepts a list for an input object: variables are coerced by GraphQL.js': {
    types: 'type Query { f(a: I): String } input I { b: String = "default" }',
    query: 'query ($a: I) { f(a: $a) }',
    variables: { a: [] },
    resolve: () => ({ 'Query.f': show }),
    isCompiled: true,
  },
  'words errors of variables otherwise: variables are coerced by GraphQL.js': {
    types: 'type Query { f(a: String): String }',
    query: 'query ($a: String) { f(a: $a) }',
    variables: { a: 5 },
    isCompiled: true,
  },
  'reports all fields that fail in an object that becomes null: only the first is an error': {
    types: 'type Query { o: O } type O { a: Int! b: Int! c: Int }',
    query: '{ o { a b c } }',
    resolve: () => ({ 'Query.o': () => ({}), 'O.a': fail('a'), 'O.b': fail('b'), 'O.c': fail('c') }),
    isCompiled: true,
  },
  'has no original error for faults: it is added': {
    types: 'type Query { o: Int! }',
    query: '{ o }',
    resolve: () => ({ 'Query.o': () => null }),
    isCompiled: true,
  },
};

describe('graphql-jit', () => {
  it.each(Object.entries(bugs))('%s', async (_, bug) => {
    const { query, variables = {}, isCompiled } = bug;
    const outcomeOf = async (run: (schema: GraphQLSchema) => unknown) => {
      const log: string[] = [];
      const result = (await run(tSchema(bug, log))) as ExecutionResult | null;
      const errors = result?.errors?.map((error) => ({ ...error.toJSON(), original: error.originalError?.message }));
      return result && { data: JSON.stringify(result.data), errors, log };
    };
    const expected = await outcomeOf((schema) =>
      execute({ schema, document: parse(query), variableValues: variables }),
    );
    const plain = await outcomeOf((schema) => {
      const compiled = compileQuery(schema, parse(query));
      return isCompiledQuery(compiled) ? compiled.query(undefined, {}, variables) : compiled;
    });
    expect(plain).not.toEqual(expected);
    const actual = await outcomeOf((schema) =>
      compileOperation(schema, tOperation(query), compileQuery)?.run({ slices: null }, variables),
    );
    expect(actual ?? null).toEqual(isCompiled ? expected : null);
  });

  it('mixes up resolvers if the joined names of their type and field are the same: those of the schema are not', async () => {
    const bug = {
      types: 'type Query { a: A ab: Ab } type A { bc: Int } type Ab { c: Int }',
      resolve: () => ({ 'Query.a': () => ({}), 'Query.ab': () => ({}), 'A.bc': () => 1, 'Ab.c': () => 2 }),
    };
    expect(JSON.stringify(await runPlain(bug, '{ a { bc } ab { c } }'))).not.toContain('"bc":1');
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    const names = types.flatMap((type) => Object.keys(type.getFields()).map((field) => type.name + field));
    expect(new Set(names).size).toBe(names.length);
  });
});

function tSchema({ types, resolve = () => ({}) }: Pick<Bug, 'types' | 'resolve'>, log: string[] = []): GraphQLSchema {
  const schema = buildSchema(`${types} scalar _Any`);
  for (const [path, resolver] of Object.entries(resolve(log))) {
    const [type = '', name = ''] = path.split('.');
    const field = (schema.getType(type) as GraphQLObjectType).getFields()[name];
    if (field) field.resolve = resolver as GraphQLFieldResolver<unknown, unknown>;
  }
  return schema;
}

async function runPlain(bug: Pick<Bug, 'types' | 'resolve'>, query: string): Promise<unknown> {
  const compiled = compileQuery(tSchema(bug), parse(query));
  return isCompiledQuery(compiled) ? (await compiled.query(undefined, {}, {})).data : undefined;
}
