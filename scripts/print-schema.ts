import { readFileSync, writeFileSync } from 'node:fs';
import {
  type ConstDirectiveNode,
  DirectiveLocation,
  type FieldDefinitionNode,
  GraphQLDirective,
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  graphqlSync,
  Kind,
  lexicographicSortSchema,
  type ObjectTypeDefinitionNode,
  parse,
  parseConstValue,
  print,
  printSchema,
  specifiedDirectives,
  visit,
} from 'graphql';
import { composeSupergraph } from '../examples/supergraph/compose.ts';
import { schema } from '../src/gateway/graphql/schema/schema.ts';
import { fillApolloCache, fillGraphcache, listPossibleTypes } from './client-types.ts';

/*
 * `npm run schema`: writes schema.graphql, schema.client.graphql, possibleTypes.json, the types in `clients` and the example's
 * supergraph. Tests fail when a file and the code differ.
 */

export const schemaFile = new URL('../schema.graphql', import.meta.url);

const contextValue = { caller: { scopes: new Set(['introspection']) }, slices: null };

/** The sorted SDL of the subgraph, as routers query it. */
export function printSubgraph(): string {
  const { data } = graphqlSync({ schema, source: '{ _service { sdl } }', contextValue });
  return `${(data as { _service: { sdl: string } } | undefined)?._service.sdl.trim()}\n`;
}

export const clientSchemaFile = new URL('../schema.client.graphql', import.meta.url);

/** The sorted SDL for the tools of clients: without Federation, whose directives they do not know, and with `@semanticNonNull`. */
export function printClientSchema(): string {
  const clientSchema = createClientSchema();
  const document = visit(parse(printSchema(clientSchema)), {
    ObjectTypeDefinition: (type) => ({
      ...type,
      fields: type.fields?.map((field) => markSemanticNonNull(type, field)),
    }),
  });
  return `${print(document)}\n`;

  function markSemanticNonNull(type: ObjectTypeDefinitionNode, field: FieldDefinitionNode): FieldDefinitionNode {
    const object = clientSchema.getType(type.name.value) as GraphQLObjectType;
    const levels = object.getFields()[field.name.value]?.extensions.semanticNonNull;
    if (levels === undefined) return field;
    const value = parseConstValue(JSON.stringify(levels));
    const levelsArgument = { kind: Kind.ARGUMENT, name: nameNode('levels'), value } as const;
    const directive: ConstDirectiveNode = {
      kind: Kind.DIRECTIVE,
      name: nameNode(semanticNonNull.name),
      arguments: String(levels) === '0' ? [] : [levelsArgument],
    };
    return { ...field, directives: [...(field.directives ?? []), directive] };
  }
}

/** As in https://specs.apollo.dev/nullability/v0.4. */
const semanticNonNull = new GraphQLDirective({
  name: 'semanticNonNull',
  description:
    'The field, or an item at the other levels of its list, is null only with an error at its path. For clients that throw such errors.',
  args: { levels: { type: new GraphQLList(GraphQLInt), defaultValue: [0] } },
  locations: [DirectiveLocation.FIELD_DEFINITION],
});

const nameNode = (value: string) => ({ kind: Kind.NAME, value }) as const;

export const possibleTypesFile = new URL('../possibleTypes.json', import.meta.url);

/** The members of each union and the implementations of each interface, as Apollo Client's cache needs them, as JSON. */
export function printPossibleTypes(): string {
  return `${JSON.stringify(listPossibleTypes(createClientSchema()), null, 2)}\n`;
}

export const apolloCacheFile = new URL('../clients/apollo-cache.js', import.meta.url);
export const graphcacheFile = new URL('../clients/graphcache.js', import.meta.url);

/** The file of each client's cache, with the types of the schema. */
export function printClientCaches(): [file: URL, text: string][] {
  const clientSchema = createClientSchema();
  return [
    [apolloCacheFile, fillApolloCache(readFileSync(apolloCacheFile, 'utf8'), clientSchema)],
    [graphcacheFile, fillGraphcache(readFileSync(graphcacheFile, 'utf8'), clientSchema)],
  ];
}

/** The names of Federation's own fields and types begin with an underscore. */
function createClientSchema(): GraphQLSchema {
  const { query, types, ...config } = schema.toConfig();
  if (!query) throw new Error('the schema has no queries');
  const { fields, ...queryConfig } = query.toConfig();
  const clientFields = Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith('_')));
  const clientSchema = new GraphQLSchema({
    ...config,
    query: new GraphQLObjectType({ ...queryConfig, fields: clientFields }),
    types: types.filter((type) => type !== query && !type.name.startsWith('_')),
    directives: [...specifiedDirectives, semanticNonNull],
  });
  return lexicographicSortSchema(clientSchema);
}

export const supergraphFile = new URL('../examples/supergraph/supergraph.graphql', import.meta.url);

/** The example's supergraph. The URLs are placeholders: the example sets them at run time. */
export function printSupergraph(): string {
  return `${composeSupergraph({ payments: 'http://payments/graphql', ledgerquill: 'http://ledgerquill/graphql' }).trim()}\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  writeFileSync(schemaFile, printSubgraph());
  writeFileSync(clientSchemaFile, printClientSchema());
  writeFileSync(possibleTypesFile, printPossibleTypes());
  for (const [file, text] of printClientCaches()) writeFileSync(file, text);
  writeFileSync(supergraphFile, printSupergraph());
}
