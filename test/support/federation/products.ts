import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { type GraphQLSchema, parse } from 'graphql';

/*
 * The products subgraph of Apollo's compatibility suite
 * (https://github.com/apollographql/apollo-federation-subgraph-compatibility) with its data, frozen like cache entries.
 */

const user = { email: 'support@apollographql.com', name: 'Jane Smith', totalProductsCreated: 1337 };
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
  createdBy: user,
};
const platform = { package: '', variation: { id: 'platform' }, research: [studioStudy] };
const studio = { ...federation, ...platform, id: 'apollo-studio', sku: 'studio' };
const deprecated = {
  sku: 'apollo-federation-v1',
  package: '@apollo/federation-v1',
  reason: 'Migrate to Federation V2',
  createdBy: user,
};
const inventory = { id: 'apollo-oss', deprecatedProducts: [deprecated] };

const products = [federation, studio];
const research = [federationStudy, studioStudy];
for (const entity of [...products, ...research, user, deprecated, inventory]) Object.freeze(entity);

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
    __resolveReference: (key: UserKey) => (key.email === user.email ? { ...user, ...key } : null),
    averageProductsCreatedPerYear: ({ totalProductsCreated = 0, yearsOfEmployment = 1 }: UserKey) =>
      Math.round(totalProductsCreated / yearsOfEmployment),
  },
  Inventory: {
    __resolveReference: ({ id }: { id: string }) => (id === inventory.id ? inventory : null),
  },
};

export const productsSdl = readFileSync(new URL('./products.graphql', import.meta.url), 'utf8');

export function createProductsSchema(): GraphQLSchema {
  return buildSubgraphSchema({ typeDefs: parse(productsSdl), resolvers });
}
