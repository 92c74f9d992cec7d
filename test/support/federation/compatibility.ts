import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { type Served, serve } from '../../../examples/supergraph/serve.ts';
import { resolveEntities } from '../../../src/gateway/graphql/schema/entities.ts';
import { QueryLimiter } from '../../../src/gateway/graphql/schema/query-limits.ts';
import type { Answer } from '../gateway.ts';
import { postJson } from '../post-json.ts';
import { createProductsSchema } from './products.ts';
import type { Router, StartRouter } from './routers.ts';
import { createTServer } from './server.ts';

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

export interface CompatibilitySupergraph {
  /** Sends a query to the products subgraph. */
  products(query: string, variables?: object, headers?: Record<string, string>): Promise<ProductsAnswer>;
  /** Sends a query to the router. */
  router: Router['ask'];
  close(): Promise<void>;
}

interface ProductsAnswer extends Answer {
  extensions?: { ftv1?: string };
}

export async function startCompatibilitySupergraph(startRouter: StartRouter): Promise<CompatibilitySupergraph> {
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
