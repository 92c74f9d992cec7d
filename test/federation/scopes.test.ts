import { readFileSync } from 'node:fs';
import { composeServices } from '@apollo/composition';
import { type GraphQLField, type GraphQLResolveInfo, Kind, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readSubgraphs } from '../../examples/supergraph/compose.ts';
import { schemaFile } from '../../scripts/print-schema.ts';
import { readProperty } from '../../src/base/parse-json.ts';
import { addScopes } from '../../src/cli/print-schema.ts';
import { schema } from '../../src/gateway/graphql/schema/schema.ts';

/* The subgraph with @requiresScopes, for routers that check the scopes of tokens. */

const sdl = await addScopes(readFileSync(schemaFile, 'utf8'));
const definitions = parse(sdl).definitions.filter((definition) => definition.kind === Kind.OBJECT_TYPE_DEFINITION);

/** The names of the types or fields that have the directive. */
function withScopes(nodes: readonly (typeof definitions)[number][] | (typeof definitions)[number]['fields'] = []) {
  const found = nodes.filter(({ directives = [] }) => directives.some(({ name }) => name.value === 'requiresScopes'));
  return found.map(({ name }) => name.value);
}

/** Whether a caller without scopes gets the error FORBIDDEN for a field. */
async function isRefused({ subscribe, resolve }: GraphQLField<unknown, unknown>, args: object): Promise<boolean> {
  const services = { allowances: [] };
  const limiter = { take: () => {} };
  const requestContext = { signal: new AbortController().signal };
  const context = { caller: { scopes: new Set() }, requestContext, services, limiter, slices: null };
  const run = subscribe ?? resolve;
  const info = { returnType: schema.getType('_Entity') } as GraphQLResolveInfo;
  try {
    const [result] = [await run?.({}, args, context, info)].flat();
    return readProperty(result, 'code') === 'FORBIDDEN';
  } catch (error) {
    return readProperty(error, 'code') === 'FORBIDDEN';
  }
}

it('composes with Apollo’s library, and its supergraph has the scopes', () => {
  const urls = { payments: 'http://payments/graphql', ledgerquill: 'http://ledgerquill/graphql' };
  const subgraphs = readSubgraphs(urls).map((subgraph) =>
    subgraph.name === 'ledgerquill' ? { ...subgraph, typeDefs: parse(sdl) } : subgraph,
  );
  const { errors, supergraphSdl } = composeServices(subgraphs);
  expect(errors).toBeUndefined();
  expect(supergraphSdl).toMatch(/\n {2}ibanValidation\([^)]*\).*@requiresScopes\(scopes: \[\["bank-data"\]\]\)/);
  expect(supergraphSdl).toMatch(/\n {2}node\(.*@requiresScopes\(scopes: \[\["bank-data"\], \["essays"\]\]\)/s);
});

describe('the directive is on what the gateway refuses without a scope, and on nothing else:', () => {
  it.each(['Query', 'Mutation', 'Subscription'])('fields of %s', async (typeName) => {
    const type = schema.getType(typeName);
    if (type === undefined || !('getFields' in type)) throw new Error('the schema has this type');
    const refused: string[] = [];
    for (const [name, field] of Object.entries(type.getFields())) {
      if (name.startsWith('_')) continue;
      if (await isRefused(field as GraphQLField<unknown, unknown>, { id: 'unknown' })) refused.push(name);
    }
    const definition = definitions.find(({ name }) => name.value === typeName);
    expect(withScopes(definition?.fields).sort()).toEqual(refused.sort());
    expect(refused.length).toBeGreaterThan(0);
  });

  it('entities', async () => {
    const field = schema.getQueryType()?.getFields()._entities;
    const refused: string[] = [];
    for (const { name } of definitions) {
      const args = { representations: [{ __typename: name.value }] };
      if (await isRefused(field as GraphQLField<unknown, unknown>, args)) refused.push(name.value);
    }
    expect(withScopes(definitions).sort()).toEqual(refused.sort());
    expect(refused.length).toBeGreaterThan(0);
  });

  it('no field of another type', () => {
    const others = definitions.filter(({ name }) => !['Query', 'Mutation', 'Subscription'].includes(name.value));
    expect(others.flatMap(({ fields }) => withScopes(fields))).toEqual([]);
  });
});

it('is otherwise the schema of the subgraph', () => {
  const without = sdl.replace(/ @requiresScopes\(scopes: .*?\]\]\)/g, '').replace(', "@requiresScopes"', '');
  expect(without).toBe(readFileSync(schemaFile, 'utf8'));
});
