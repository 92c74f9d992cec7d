import { type GraphQLResolveInfo, getNamedType, isUnionType } from 'graphql';
import { GatewayError } from '../../../base/errors.ts';
import type { Context } from './context.ts';
import { checkScope, checkText } from './field-checks.ts';
import { settleAll } from './loaders.ts';

/** How a router refers to an entity: `__typename` and the key fields. */
type Representation = Readonly<Record<string, unknown>>;

type MaybeEntity = object | null | undefined;

type ResolveReference = (
  representation: Representation,
  context: Context,
  info: GraphQLResolveInfo,
) => MaybeEntity | Promise<MaybeEntity>;

/** The directive of an entity. */
export function entityKey(fields: string) {
  return { name: 'key', args: { fields } } as const;
}

/** The extension of an entity, where other libraries have it, too. */
export function resolveReference(resolve: ResolveReference) {
  return { apollo: { subgraph: { resolveReference: resolve } } };
}

/**
 * Resolves each representation separately: an invalid one, or one whose look-up fails, is null with an error at its
 * index.
 */
export function resolveEntities(
  representations: readonly unknown[],
  context: Context,
  info: GraphQLResolveInfo,
): Promise<MaybeEntity[]> {
  const { limiter, requestContext } = context;
  limiter.take('entities', representations.length);
  const resolve = (representation: unknown) => resolveEntity(representation, context, info);
  return settleAll(representations, resolve, requestContext.signal);
}

/** The key of a representation. @throws GatewayError if it is not a string, or has more characters than `maxLength` */
export function readKey(name: string, key: unknown, maxLength: number): string {
  if (typeof key !== 'string') {
    throw new GatewayError('BAD_USER_INPUT', `The representation must have a string key "${name}".`);
  }
  return checkText(`key "${name}"`, key, maxLength);
}

/** Not async: thousands may wait. */
function resolveEntity(
  representation: unknown,
  context: Context,
  info: GraphQLResolveInfo,
): MaybeEntity | Promise<MaybeEntity> {
  if (typeof representation !== 'object' || representation === null) {
    throw new GatewayError('BAD_USER_INPUT', 'A representation must be an object with __typename and a key.');
  }
  const { __typename: typename } = representation as Representation;
  const union = getNamedType(info.returnType);
  const type = isUnionType(union) ? union.getTypes().find(({ name }) => name === typename) : undefined;
  if (type === undefined) {
    throw new GatewayError('BAD_USER_INPUT', 'The __typename of a representation must be an entity of this subgraph.');
  }
  checkScope(type, context);
  const { apollo } = type.extensions as ReturnType<typeof resolveReference>;
  return apollo.subgraph.resolveReference(representation as Representation, context, info);
}
