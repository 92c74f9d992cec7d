import {
  type ASTNode,
  type GraphQLSchema,
  isIntrospectionType,
  isSpecifiedScalarType,
  Kind,
  print,
  visit,
} from 'graphql';
import type { BankData } from '../../bank-data/bank-data.ts';
import { BankDataType } from './bank.ts';
import { builder } from './builder.ts';
import { IbanCountryType } from './country.ts';
import { resolveEntities } from './entities.ts';
import { IbanValidationType } from './iban.ts';

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
  types: [BankDataType, IbanCountryType, IbanValidationType],
  // By a field that only one of them has, so that entities are not copied to add their type.
  resolveType(entity) {
    if ('problems' in entity) return 'IbanValidation';
    if ('territories' in entity) return 'IbanCountry';
    // The compiler finds an entity that is missing here.
    entity satisfies BankData;
    return 'BankData';
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

/** The SDL for routers, printed on first use. Sorted by name, because the order of the code may change. */
function printSubgraphSdl(schema: GraphQLSchema): string {
  const known = printed.get(schema);
  if (known !== undefined) return known;
  // The directives plugin of Pothos adds the nodes, with the directives that GraphQL.js does not print.
  const types = Object.values(schema.getTypeMap())
    .filter((type) => !isSpecifiedScalarType(type) && !isIntrospectionType(type))
    .flatMap(({ astNode }) => astNode ?? []);
  const document = { kind: Kind.DOCUMENT, definitions: [...schema.extensionASTNodes, ...publicByName(types)] } as const;
  const sdl = print(visit(document, { enter: normalize }));
  printed.set(schema, sdl);
  return sdl;
}

const printed = new WeakMap<GraphQLSchema, string>();

function normalize(node: ASTNode): ASTNode | undefined {
  const described =
    'description' in node && node.description ? { ...node, description: { ...node.description, block: true } } : node;
  switch (described.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
      return { ...described, fields: publicByName(described.fields) };
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return { ...described, fields: publicByName(described.fields) };
    case Kind.ENUM_TYPE_DEFINITION:
      return { ...described, values: publicByName(described.values) };
    case Kind.UNION_TYPE_DEFINITION:
      return { ...described, types: publicByName(described.types) };
    case Kind.FIELD_DEFINITION:
      return { ...described, arguments: publicByName(described.arguments) };
    default:
      return described;
  }
}

/** Without `_entities`, `_service` and their types, which are only for routers. */
function publicByName<Named extends { name: { value: string } }>(nodes: readonly Named[] = []): readonly Named[] {
  return nodes
    .filter(({ name }) => !name.value.startsWith('_'))
    .toSorted((one, other) => (one.name.value < other.name.value ? -1 : 1));
}
