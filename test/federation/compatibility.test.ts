import { Trace } from '@apollo/usage-reporting-protobuf';
import { parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { resolveEntities } from '../../src/graphql/schema/entities.ts';
import { QueryBudget } from '../../src/graphql/schema/query-budget.ts';
import { createProductsSchema, productsSdl } from '../support/federation/products.ts';
import { tServer } from '../support/federation/server.ts';

/* The cases of Apollo's subgraph compatibility suite, run with its products schema on our server. */

function tProducts() {
  const schema = createProductsSchema();
  const { _entities } = schema.getQueryType()?.getFields() ?? {};
  if (_entities === undefined) throw new Error('the schema has no entities');
  // Apollo's library finds the type of an entity by its `__typename`.
  _entities.resolve = async (_, { representations }, context, info) => {
    const entities = await resolveEntities(representations, context, info);
    return entities.map((entity, index) =>
      entity == null || entity instanceof Error ? entity : { ...entity, __typename: representations[index].__typename },
    );
  };
  const budget = new QueryBudget({ ibans: 0, bics: 0, bankQueries: 0, essayTexts: 20, essays: 0, entities: 10 });
  return tServer({ schema, createContext: (requestContext) => ({ requestContext, budget }) });
}

describe('_service { sdl }', () => {
  it('contains each definition unchanged, with its directives', async () => {
    const { data } = await tProducts()('{ _service { sdl } }');
    const isOwn = (text: string) => !text.startsWith('type Query');
    const definitions = parse(productsSdl).definitions.map(print).filter(isOwn);
    expect(definitions).toHaveLength(10);
    expect(parse(String(data?._service?.sdl)).definitions.map(print)).toEqual(expect.arrayContaining(definitions));
  });
});

describe('a representation', () => {
  const federation = { id: 'apollo-federation', sku: 'federation' };
  const product = '... on Product { id sku }';
  const user = { __typename: 'User', email: 'support@apollographql.com' };

  it.each([
    ['@key single', user, '... on User { name }', { name: 'Jane Smith' }],
    [
      '@key multiple',
      { __typename: 'DeprecatedProduct', sku: 'apollo-federation-v1', package: '@apollo/federation-v1' },
      '... on DeprecatedProduct { reason }',
      { reason: 'Migrate to Federation V2' },
    ],
    [
      '@key composite',
      { __typename: 'ProductResearch', study: { caseNumber: '1234' } },
      '... on ProductResearch { study { description } }',
      { study: { description: 'Federation Study' } },
    ],
    ['@key by id', { __typename: 'Product', id: 'apollo-federation' }, product, federation],
    [
      'repeatable @key, the second',
      { __typename: 'Product', sku: 'federation', package: '@apollo/federation' },
      product,
      federation,
    ],
    [
      'repeatable @key, the third',
      { __typename: 'Product', sku: 'studio', variation: { id: 'platform' } },
      product,
      { id: 'apollo-studio', sku: 'studio' },
    ],
    [
      '@requires and @external',
      { ...user, totalProductsCreated: 1337, yearsOfEmployment: 10 },
      '... on User { averageProductsCreatedPerYear }',
      { averageProductsCreatedPerYear: 134 },
    ],
    [
      '@interfaceObject',
      { __typename: 'Inventory', id: 'apollo-oss' },
      '... on Inventory { deprecatedProducts { sku reason } }',
      { deprecatedProducts: [{ sku: 'apollo-federation-v1', reason: 'Migrate to Federation V2' }] },
    ],
    ['an unknown id', { __typename: 'Product', id: 'none' }, '... on Product { sku }', null],
  ])('is resolved: %s', async (_, representation, fragment, entity) => {
    const ask = tProducts();
    const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ${fragment} } }`;
    expect(await ask(query, { representations: [representation] })).toEqual({ data: { _entities: [entity] } });
  });
});

it('a query is executed by the subgraph, with an ftv1 trace if the router requests it', async () => {
  const query = `{ product(id: "apollo-federation") {
    createdBy { name email totalProductsCreated } dimensions { size weight unit } notes } }`;
  const { data, extensions } = await tProducts()(query, {}, { 'apollo-federation-include-trace': 'ftv1' });
  expect(data?.product).toEqual({
    createdBy: { name: 'Jane Smith', email: 'support@apollographql.com', totalProductsCreated: 1337 },
    dimensions: { size: 'small', weight: 1, unit: 'kg' },
    notes: null,
  });
  const { root } = Trace.decode(Buffer.from(extensions?.ftv1 ?? '', 'base64'));
  const [product] = root?.child ?? [];
  expect(product?.responseName).toBe('product');
  expect(product?.child?.map(({ responseName }) => responseName)).toEqual(['createdBy', 'dimensions', 'notes']);
});
