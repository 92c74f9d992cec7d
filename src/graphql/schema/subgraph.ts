import type { GraphQLSchema } from 'graphql';
import type { Bank } from '../../bank-data/bank-data.ts';
import { BankType } from './bank.ts';
import { builder } from './builder.ts';
import { IbanCountryType } from './country.ts';
import { resolveEntities } from './entities.ts';
import { IbanValidationType } from './iban.ts';
import { printSubgraphSdl } from './subgraph-sdl.ts';

/* The fields that routers query: https://www.apollographql.com/docs/graphos/schema-design/federated-schemas/reference/subgraph-spec */

/** The oldest version with @cost and @listSize, so that older composition tools accept the schema. */
export const federationLink = {
  name: 'link',
  args: {
    url: 'https://specs.apollo.dev/federation/v2.9',
    import: ['@cost', '@key', '@listSize', '@shareable', '@tag'],
  },
} as const;

const AnyType = builder.scalarType('_Any', { serialize: (value) => value });

const EntityType = builder.unionType('_Entity', {
  types: [BankType, IbanCountryType, IbanValidationType],
  // By a field that only one of them has, so that entities are not copied to add their type.
  resolveType(entity) {
    if ('problems' in entity) return 'IbanValidation';
    if ('territories' in entity) return 'IbanCountry';
    // The compiler finds an entity that is missing here.
    entity satisfies Bank;
    return 'Bank';
  },
});

builder.queryField('_entities', (t) =>
  t.field({
    type: [EntityType],
    nullable: { list: false, items: true },
    args: { representations: t.arg({ type: [AnyType], required: true }) },
    resolve: (_, { representations }, context, info) => resolveEntities(representations, context, info) as never,
  }),
);

const ServiceType = builder.objectRef<{ schema: GraphQLSchema }>('_Service').implement({
  fields: (t) => ({
    sdl: t.string({
      nullable: true,
      description: 'The schema in SDL, with the directives of Federation, without the types and fields for routers.',
      resolve: ({ schema }) => printSubgraphSdl(schema),
    }),
  }),
});

builder.queryField('_service', (t) =>
  t.field({ type: ServiceType, resolve: (_, __, ___, { schema }) => ({ schema }) }),
);
