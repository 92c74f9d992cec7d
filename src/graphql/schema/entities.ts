import {
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isUnionType,
} from 'graphql';
import { GatewayError } from '../../errors.ts';
import type { Context } from '../context.ts';
import { checkScope } from './scopes.ts';
import { settleItems } from './settle-items.ts';
import { checkText } from './text-limits.ts';

/** How a router refers to an entity: `__typename` and the key fields. */
type Representation = Readonly<Record<string, unknown>>;

type ResolveReference = (representation: Representation, context: unknown, info: GraphQLResolveInfo) => unknown;

/**
 * Resolves each representation separately: an invalid one, or one whose look-up fails, is null with an error at its
 * index. Apollo's resolver fails the whole list instead, and writes `__typename` into the resolved objects, which may
 * be frozen cache entries.
 */
export function withSeparateEntities(schema: GraphQLSchema): GraphQLSchema {
  const field = schema.getQueryType()?.getFields()._entities;
  const union = getNamedType(field?.type);
  if (field === undefined || !isUnionType(union)) throw new Error('the schema has no entities');
  const types = new Map(union.getTypes().map((type) => [type.name, type]));
  field.resolve = (_, { representations }: { representations: readonly unknown[] }, context: Context, info) => {
    const { budget } = context;
    if (!budget.spend('entities', representations.length)) throw budget.createLimitError('entities');
    return settleItems(representations, (representation) => resolveEntity(representation, types, context, info));
  };
  return schema;
}

/** The key of a representation. @throws GatewayError if it is not a string, or has more characters than `maxLength` */
export function readKey(name: string, key: unknown, maxLength: number): string {
  if (typeof key !== 'string') {
    throw new GatewayError('BAD_USER_INPUT', `The representation must have a string key "${name}".`);
  }
  return checkText(name, key, maxLength);
}

async function resolveEntity(
  representation: unknown,
  types: ReadonlyMap<unknown, GraphQLObjectType>,
  context: Context,
  info: GraphQLResolveInfo,
) {
  if (typeof representation !== 'object' || representation === null) {
    throw new GatewayError('BAD_USER_INPUT', 'A representation must be an object with __typename and a key.');
  }
  const { __typename: typename } = representation as Representation;
  const type = types.get(typename);
  if (type === undefined) {
    throw new GatewayError('BAD_USER_INPUT', 'The __typename of a representation must be an entity of this subgraph.');
  }
  checkScope(type, context);
  // As in Apollo's library, an entity without a reference resolver resolves to its representation.
  const resolve = resolverOf(type) ?? ((known: Representation) => known);
  const entity = await resolve(representation as Representation, context, info);
  return entity ? { ...entity, __typename: typename } : null;
}

function resolverOf({ extensions }: GraphQLObjectType): ResolveReference | undefined {
  const { subgraph } = (extensions.apollo ?? {}) as { subgraph?: { resolveReference?: ResolveReference } };
  return subgraph?.resolveReference;
}
