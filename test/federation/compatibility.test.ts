import { readFileSync } from 'node:fs';
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { Trace } from '@apollo/usage-reporting-protobuf';
import { type DocumentNode, type GraphQLSchema, Kind, parse, print, stripIgnoredCharacters } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serve } from '../../examples/supergraph/serve.ts';
import { resolveEntities } from '../../src/gateway/graphql/schema/entities.ts';
import { QueryLimiter } from '../../src/gateway/graphql/schema/query-limits.ts';
import { type Router, routers, type StartRouter } from '../support/federation/supergraph.ts';
import { createTServer } from '../support/gateway/graphql/graphql-server.ts';
import type { Answer } from '../support/gateway.ts';
import { postJson } from '../support/loopback.ts';
import { countJudgement } from '../support/plain-summary.ts';

/*
 * The supergraph of Apollo's compatibility suite: the products subgraph on our server, and its subgraphs users and inventory
 * with Apollo's library. It is composed from the SDL that the running subgraphs return for `_service`.
 */

const usersSdl = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
  type User @key(fields: "email") {
    email: ID!
    name: String
    totalProductsCreated: Int @shareable
    yearsOfEmployment: Int!
  }`;

const inventorySdl = `
  extend schema
    @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@external", "@key", "@requires", "@shareable"])
  type Query { inventory(id: ID!): Inventory }
  interface Inventory @key(fields: "id") { id: ID!, products: [Product!]! }
  type OpenSourceInventory implements Inventory @key(fields: "id") { id: ID!, products: [Product!]! }
  extend type Product @key(fields: "id") {
    id: ID! @external
    dimensions: ProductDimension @external
    delivery(zip: String): DeliveryEstimates @requires(fields: "dimensions { size weight }")
  }
  type ProductDimension @shareable { size: String, weight: Float }
  type DeliveryEstimates { estimatedDelivery: String, fastestDelivery: String }`;

const user = { email: 'support@apollographql.com', name: 'Apollo', totalProductsCreated: 10, yearsOfEmployment: 10 };
const inventory = { __typename: 'OpenSourceInventory', id: 'apollo-oss', products: [{ id: 'apollo-federation' }] };
const delivery = { estimatedDelivery: '5/1/2019', fastestDelivery: '5/1/2019' };

const users = {
  User: { __resolveReference: ({ email }: { email: string }) => (email === user.email ? user : null) },
};

const findInventory = ({ id }: { id: string }) => (id === inventory.id ? inventory : null);
const inventories = {
  Query: { inventory: (_: unknown, key: { id: string }) => findInventory(key) },
  Inventory: { __resolveReference: findInventory, __resolveType: () => 'OpenSourceInventory' },
  OpenSourceInventory: { __resolveReference: findInventory },
  Product: { __resolveReference: (product: object) => product, delivery: () => delivery },
};

interface CompatibilitySupergraph {
  /** Sends a query to the products subgraph. */
  products(query: string, variables?: object, headers?: Record<string, string>): Promise<ProductsAnswer>;
  /** Sends a query to the router. */
  router: Router['ask'];
  close(): Promise<void>;
}

interface ProductsAnswer extends Answer {
  extensions?: { ftv1?: string };
}

async function startCompatibilitySupergraph(startRouter: StartRouter): Promise<CompatibilitySupergraph> {
  const products = await serveProducts();
  const served = {
    products,
    users: await serveSubgraph(usersSdl, users),
    inventory: await serveSubgraph(inventorySdl, inventories),
  };
  const subgraphs = await Promise.all(
    Object.entries(served).map(async ([name, { url }]) => {
      const { data } = await postJson<Answer>(url, { query: '{ _service { sdl } }' });
      return { name, url, typeDefs: parse(String(data?._service?.sdl)) };
    }),
  );
  const { supergraphSdl, errors } = composeServices(subgraphs);
  if (supergraphSdl === undefined) throw new Error(errors?.map(({ message }) => message).join('\n'));
  const router = await startRouter(supergraphSdl);
  return {
    products: (query, variables = {}, headers = {}) => postJson(products.url, { query, variables }, { headers }),
    router: router.ask,
    async close() {
      await router.close();
      await Promise.all(Object.values(served).map((subgraph) => subgraph.close()));
    },
  };
}

function serveSubgraph(sdl: string, resolvers: object): Promise<Served> {
  const schema = buildSubgraphSchema({ typeDefs: parse(sdl), resolvers: resolvers as never });
  return serve(createYoga({ schema, logging: false, graphiql: false, landingPage: false }));
}

function serveProducts(): Promise<Served> {
  const { fetch } = createProductsServer();
  return serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const headers = request.headers as Record<string, string>;
    const answer = await fetch('http://products/graphql', { method: 'POST', headers, body });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  });
}

function createProductsServer() {
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
  const limiter = new QueryLimiter({
    ibans: 0,
    bics: 0,
    bankQueries: 0,
    essayTexts: 20,
    listedOrders: 0,
    storedBytes: 0,
    essays: 0,
    entities: 10,
    suggestions: 0,
  });
  return createTServer({ schema, createContext: (requestContext) => ({ requestContext, limiter }) });
}

/*
 * All 25 tests of Apollo's subgraph compatibility suite, at commit 2abc087 of
 * https://github.com/apollographql/apollo-federation-subgraph-compatibility, with its three subgraphs. In place of Apollo's
 * router, which is not in the npm registry, the routers that are.
 */

describe.each(routers)('Apollo’s compatibility suite, with %s', (routerName, startRouter) => {
  let supergraph: CompatibilitySupergraph;
  let sdl: string;
  const products: CompatibilitySupergraph['products'] = (...args) => supergraph.products(...args);

  beforeAll(async () => {
    supergraph = await startCompatibilitySupergraph(startRouter);
    const { data } = await products('{ _service { sdl } }');
    sdl = stripIgnoredCharacters(String(data?._service?.sdl));
  });
  afterAll(() => supergraph.close());
  afterEach(({ task }) => countJudgement(task, `Apollo's subgraph compatibility suite (${routerName})`));

  it('introspection: the SDL has all types and fields of the reference', () => {
    expect(fieldsOf(parse(sdl))).toEqual(fieldsOf(parse(productsSdl)));
  });

  it('@link: the SDL links Federation once, in a version that the suite knows, and imports only its directives', () => {
    const links = [
      ...sdl.matchAll(/@link\(url:"https:\/\/specs\.apollo\.dev\/federation\/v2\.[0-7]" import:\[(.+?)\]/g),
    ];
    expect(links).toHaveLength(1);
    const imports = links[0]?.[1]?.match(/@\w+/g);
    const directives = ['composeDirective', 'external', 'inaccessible', 'interfaceObject', 'key', 'override'];
    const others = ['provides', 'requires', 'shareable', 'tag'];
    expect(imports).toEqual([...directives, ...others].map((name) => `@${name}`));
  });

  it('@composeDirective: the SDL links, composes, defines and applies @custom', () => {
    expect(sdl).toMatch(/@link\(url:"https:\/\/myspecs\.dev\/myCustomDirective\/v[\d.]+" import:\["@custom"\]\)/);
    expect(sdl).toMatch(/schema.*@composeDirective\(name:"@custom"\)/);
    expect(sdl).toMatch(/directive@custom on OBJECT/);
    expect(sdl).toMatch(/type Product[^{]*@custom[^{]*\{/);
  });

  it.each([
    ['@key single', /type User@key\(fields:"email"\)/],
    ['@key multiple', /type DeprecatedProduct@key\(fields:"sku package"\)/],
    ['@key composite', /type ProductResearch@key\(fields:"study { caseNumber }"\)/],
    [
      'repeatable @key',
      /type Product@custom@key\(fields:"id"\)@key\(fields:"sku package"\)@key\(fields:"sku variation { id }"\)\{/,
    ],
    ['@shareable', /type ProductDimension@shareable/],
    ['@override', /name:String@override\(from:"users"\)/],
    ['@provides', /createdBy:User@provides\(fields:"totalProductsCreated"\)/],
    ['@requires', /averageProductsCreatedPerYear:Int@requires\(fields:"totalProductsCreated yearsOfEmployment"\)/],
    ['@inaccessible', /unit:String@inaccessible/],
    ['@tag', /@tag\(name:"internal"\)/],
    ['@interfaceObject', /type Inventory@interfaceObject@key\(fields:"id"\)/],
  ])('%s: the SDL has it', (_, pattern) => {
    expect(sdl).toMatch(pattern);
    expect(sdl).not.toMatch(/@federation__(inaccessible|tag)/);
  });

  const federation = { id: 'apollo-federation', sku: 'federation' };
  const study = { caseNumber: '1234', description: 'Federation Study' };
  const deprecatedKey = { sku: 'apollo-federation-v1', package: '@apollo/federation-v1' };
  const deprecated = { ...deprecatedKey, reason: 'Migrate to Federation V2' };
  const email = 'support@apollographql.com';

  it.each([
    ['@key single', 'User { email name }', [{ email }], [{ email, name: 'Jane Smith' }]],
    ['@key multiple', 'DeprecatedProduct { sku package reason }', [deprecatedKey], [deprecated]],
    [
      '@key composite',
      'ProductResearch { study { caseNumber description } }',
      [{ study: { caseNumber: '1234' } }],
      [{ study }],
    ],
    [
      'repeatable @key',
      'Product { id sku }',
      [
        { id: 'apollo-federation' },
        { sku: 'federation', package: '@apollo/federation' },
        { sku: 'studio', variation: { id: 'platform' } },
      ],
      [federation, federation, { id: 'apollo-studio', sku: 'studio' }],
    ],
  ])('%s: resolves representations', async (_, fragment, keys, entities) => {
    const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on ${fragment} } }`;
    const representations = keys.map((key) => ({ __typename: fragment.split(' ')[0], ...key }));
    expect(await products(query, { representations })).toEqual({ data: { _entities: entities } });
  });

  it('@inaccessible: the subgraph itself resolves the field', async () => {
    const { data } = await products('{ product(id: "apollo-federation") { dimensions { unit } } }');
    expect(data).toEqual({ product: { dimensions: { unit: 'kg' } } });
  });

  it('@provides: the subgraph resolves the field without the one that owns it', async () => {
    const { data } = await products(
      '{ product(id: "apollo-federation") { createdBy { email totalProductsCreated } } }',
    );
    expect(data).toEqual({ product: { createdBy: { email, totalProductsCreated: 1337 } } });
  });

  it('ftv1: the subgraph returns a trace that the router requests', async () => {
    const answer = await products('{ __typename }', {}, { 'apollo-federation-include-trace': 'ftv1' });
    expect(answer).toEqual({ data: { __typename: 'Query' }, extensions: { ftv1: expect.any(String) } });
  });

  it.each([
    [
      '@shareable',
      '{ product(id: "apollo-federation") { dimensions { size weight } } }',
      { product: { dimensions: { size: 'small', weight: 1 } } },
    ],
    [
      '@override',
      '{ product(id: "apollo-federation") { createdBy { name } } }',
      { product: { createdBy: { name: 'Jane Smith' } } },
    ],
    [
      '@requires',
      '{ product(id: "apollo-federation") { createdBy { averageProductsCreatedPerYear email } } }',
      { product: { createdBy: { averageProductsCreatedPerYear: expect.any(Number), email } } },
    ],
    [
      '@interfaceObject',
      '{ inventory(id: "apollo-oss") { deprecatedProducts { sku reason } } }',
      { inventory: { deprecatedProducts: [{ sku: deprecated.sku, reason: deprecated.reason }] } },
    ],
  ])('%s: the router resolves it', async (_, query, data) => {
    const answer = await supergraph.router(query);
    expect(answer.errors).toBeUndefined();
    expect(JSON.parse(JSON.stringify(answer.data))).toEqual(data);
  });
});

describe('the products subgraph of the suite', () => {
  let supergraph: CompatibilitySupergraph;
  beforeAll(async () => {
    supergraph = await startCompatibilitySupergraph(async () => ({ ask: async () => ({}), close: async () => {} }));
  });
  afterAll(() => supergraph.close());

  it('resolves a representation with an unknown key to null', async () => {
    const query = 'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename } }';
    const representations = [{ __typename: 'Product', id: 'none' }];
    expect(await supergraph.products(query, { representations })).toEqual({ data: { _entities: [null] } });
  });

  it('traces every field of a query', async () => {
    const query = `{ product(id: "apollo-federation") {
      createdBy { name email totalProductsCreated } dimensions { size weight unit } notes } }`;
    const headers = { 'apollo-federation-include-trace': 'ftv1' };
    const { data, extensions } = await supergraph.products(query, {}, headers);
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
});

/** The types of the fields and arguments of each type, without those for routers. An extension counts as its type. */
function fieldsOf(document: DocumentNode): Record<string, string[]> {
  const types = document.definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.OBJECT_TYPE_EXTENSION) return [];
    if (definition.name.value.startsWith('_')) return [];
    const fields = (definition.fields ?? []).map((field) => print({ ...field, directives: [] }));
    return [[definition.name.value, fields.filter((field) => !field.startsWith('_')).toSorted()] as const];
  });
  return Object.fromEntries(types.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/*
 * The products subgraph of Apollo's compatibility suite
 * (https://github.com/apollographql/apollo-federation-subgraph-compatibility) with its data, frozen like cache entries.
 */

const creator = { email: 'support@apollographql.com', name: 'Jane Smith', totalProductsCreated: 1337 };
const dimensions = { size: 'small', weight: 1, unit: 'kg' };
const federationStudy = { study: { caseNumber: '1234', description: 'Federation Study' }, outcome: null };
const studioStudy = { study: { caseNumber: '1235', description: 'Studio Study' }, outcome: null };
const federation = {
  id: 'apollo-federation',
  sku: 'federation',
  package: '@apollo/federation',
  variation: { id: 'OSS' },
  research: [federationStudy],
  dimensions,
  createdBy: creator,
};
const platform = { package: '', variation: { id: 'platform' }, research: [studioStudy] };
const studio = { ...federation, ...platform, id: 'apollo-studio', sku: 'studio' };
const deprecated = {
  sku: 'apollo-federation-v1',
  package: '@apollo/federation-v1',
  reason: 'Migrate to Federation V2',
  createdBy: creator,
};
const ownInventory = { id: 'apollo-oss', deprecatedProducts: [deprecated] };

const products = [federation, studio];
const research = [federationStudy, studioStudy];
for (const entity of [...products, ...research, creator, deprecated, ownInventory]) Object.freeze(entity);

interface ProductKey {
  id?: string;
  sku?: string;
  package?: string;
  variation?: { id: string };
}

interface UserKey {
  email: string;
  totalProductsCreated?: number;
  yearsOfEmployment?: number;
}

type DeprecatedKey = Pick<typeof deprecated, 'sku' | 'package'>;

function findDeprecated(key: DeprecatedKey) {
  return key.sku === deprecated.sku && key.package === deprecated.package ? deprecated : null;
}

/** By any of its three keys. */
function findProduct(key: ProductKey) {
  if (key.id !== undefined) return products.find(({ id }) => id === key.id) ?? null;
  const sameSku = products.filter(({ sku }) => sku === key.sku);
  if (key.package !== undefined) return sameSku.find((product) => product.package === key.package) ?? null;
  return sameSku.find(({ variation }) => variation.id === key.variation?.id) ?? null;
}

const resolvers = {
  Query: {
    product: (_: unknown, { id }: { id: string }) => findProduct({ id }),
    deprecatedProduct: (_: unknown, key: DeprecatedKey) => findDeprecated(key),
  },
  Product: { __resolveReference: findProduct },
  DeprecatedProduct: { __resolveReference: findDeprecated },
  ProductResearch: {
    __resolveReference: (key: { study: { caseNumber: string } }) =>
      research.find(({ study }) => study.caseNumber === key.study.caseNumber) ?? null,
  },
  User: {
    __resolveReference: (key: UserKey) => (key.email === creator.email ? { ...creator, ...key } : null),
    averageProductsCreatedPerYear: ({ totalProductsCreated = 0, yearsOfEmployment = 1 }: UserKey) =>
      Math.round(totalProductsCreated / yearsOfEmployment),
  },
  Inventory: {
    __resolveReference: ({ id }: { id: string }) => (id === ownInventory.id ? ownInventory : null),
  },
};

const productsSdl = readFileSync(new URL('../support/federation/products.graphql', import.meta.url), 'utf8');

function createProductsSchema(): GraphQLSchema {
  return buildSubgraphSchema({ typeDefs: parse(productsSdl), resolvers });
}
