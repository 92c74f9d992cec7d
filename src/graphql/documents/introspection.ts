import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql';
import { requireScope } from '../../auth/caller.ts';

/**
 * The same schema for callers without the scope `introspection`: `__schema` and `__type` fail at their paths, as other
 * fields outside a scope do. GraphQL.js resolves both for the query type that the schema names, so the root type is a
 * copy with fields of these names.
 */
export function withClosedIntrospection(schema: GraphQLSchema): GraphQLSchema {
  const query = schema.getQueryType();
  const fields = { ...query?.getFields(), ...closedFields };
  const closedQuery: GraphQLObjectType = Object.create(query ?? null, { getFields: { value: () => fields } });
  return Object.create(schema, {
    getRootType: {
      value: (kind: OperationTypeNode) => (kind === OperationTypeNode.QUERY ? closedQuery : schema.getRootType(kind)),
    },
    // Conditions of fragments.
    getType: { value: (name: string) => (name === query?.name ? closedQuery : schema.getType(name)) },
  });
}

/** Whether an operation only selects `__typename` and introspection fields. */
export function isAboutSchema({ selectionSet: { selections } }: OperationDefinitionNode): boolean {
  return selections.every((node) => node.kind === Kind.FIELD && node.name.value.startsWith('__'));
}

const closedFields = Object.fromEntries(
  [SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, close(field)]),
);

function close(field: GraphQLField<unknown, unknown>): GraphQLField<unknown, unknown> {
  return { ...field, resolve: () => requireScope({ scopes: new Set() }, 'introspection') };
}
