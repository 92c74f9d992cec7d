import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { GatewayError } from '../../errors.ts';
import type { Context } from '../context.ts';

/** What a router knows of an entity: its type and its key. */
type Representation = Readonly<Record<string, unknown>>;

type ResolveReference = (representation: Representation, context: Context) => unknown;

/**
 * Answers each representation on its own: one that is wrong or whose look-up fails is null, with an error at its
 * index. Apollo's resolver fails them all for one, and writes `__typename` into the objects that it is handed, which
 * here may be the cache's.
 */
export function settleEntitiesSeparately(schema: GraphQLSchema): GraphQLSchema {
  const field = schema.getQueryType()?.getFields()._entities;
  if (field === undefined) throw new Error('the schema has no entities');
  field.resolve = (_, { representations }: { representations: readonly unknown[] }, context: Context, info) =>
    representations.map((representation) => resolveEntity(representation, context, info));
  return schema;
}

/** The key of a representation as text. @throws GatewayError where there is none */
export function readKey(name: string, key: unknown): string {
  if (typeof key === 'string') return key;
  throw new GatewayError('BAD_USER_INPUT', `The representation has no key "${name}", or one that is no string.`);
}

async function resolveEntity(representation: unknown, context: Context, { schema }: GraphQLResolveInfo) {
  if (typeof representation !== 'object' || representation === null) {
    throw new GatewayError('BAD_USER_INPUT', 'A representation is an object with __typename and a key.');
  }
  const { __typename: typename } = representation as Representation;
  const type = typeof typename === 'string' ? schema.getType(typename) : undefined;
  const subgraph = (type?.extensions.apollo as { subgraph?: { resolveReference?: ResolveReference } } | undefined)
    ?.subgraph;
  if (subgraph?.resolveReference === undefined) {
    throw new GatewayError('BAD_USER_INPUT', 'The __typename of the representation is no entity of this subgraph.');
  }
  const entity = await subgraph.resolveReference(representation as Representation, context);
  return entity ? { ...entity, __typename: typename } : null;
}
