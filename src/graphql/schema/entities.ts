import {
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isUnionType,
} from 'graphql';
import { GatewayError } from '../../errors.ts';

/** What a router knows of an entity: its type and its key. */
type Representation = Readonly<Record<string, unknown>>;

type ResolveReference = (representation: Representation, context: unknown, info: GraphQLResolveInfo) => unknown;

/**
 * Has a subgraph answer each representation on its own: one that is wrong or whose look-up fails is null, with an error
 * at its index. Apollo's resolver fails them all for one, and writes `__typename` into the objects that it is handed,
 * which may be a cache's, and frozen.
 */
export function settleEntitiesSeparately(schema: GraphQLSchema): GraphQLSchema {
  const field = schema.getQueryType()?.getFields()._entities;
  const union = getNamedType(field?.type);
  if (field === undefined || !isUnionType(union)) throw new Error('the schema has no entities');
  const types = new Map(union.getTypes().map((type) => [type.name, type]));
  field.resolve = (_, { representations }: { representations: readonly unknown[] }, context, info) =>
    representations.map((representation) => resolveEntity(representation, types, context, info));
  return schema;
}

/** The key of a representation as text. @throws GatewayError where there is none */
export function readKey(name: string, key: unknown): string {
  if (typeof key === 'string') return key;
  throw new GatewayError('BAD_USER_INPUT', `The representation has no key "${name}", or one that is no string.`);
}

async function resolveEntity(
  representation: unknown,
  types: ReadonlyMap<unknown, GraphQLObjectType>,
  context: unknown,
  info: GraphQLResolveInfo,
) {
  if (typeof representation !== 'object' || representation === null) {
    throw new GatewayError('BAD_USER_INPUT', 'A representation is an object with __typename and a key.');
  }
  const { __typename: typename } = representation as Representation;
  const type = types.get(typename);
  if (type === undefined) {
    throw new GatewayError('BAD_USER_INPUT', 'The __typename of the representation is no entity of this subgraph.');
  }
  // What has no resolver of its own is, to Apollo's library as well, what the router knows of it.
  const resolve = resolverOf(type) ?? ((known: Representation) => known);
  const entity = await resolve(representation as Representation, context, info);
  return entity ? { ...entity, __typename: typename } : null;
}

function resolverOf({ extensions }: GraphQLObjectType): ResolveReference | undefined {
  const { subgraph } = (extensions.apollo ?? {}) as { subgraph?: { resolveReference?: ResolveReference } };
  return subgraph?.resolveReference;
}
