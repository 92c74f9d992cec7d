import { defaultFieldResolver, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { requireScope } from '../../auth/caller.ts';
import type { Scope } from '../../config/callers.ts';
import type { Context } from './context.ts';

/** Options of a root field or an entity: the scope that its caller needs, which `withScopes` checks. */
export const bankDataScope = { scope: 'bank-data' } satisfies { scope: Scope };
export const essaysScope = { scope: 'essays' } satisfies { scope: Scope };

/**
 * Checks the scope of each root field before its resolver runs. Entities check theirs when they are resolved. The schema
 * is also readable as SDL, for routers.
 */
export function withScopes(schema: GraphQLSchema): GraphQLSchema {
  const service = schema.getQueryType()?.getFields()._service;
  if (service) service.extensions = { ...service.extensions, scope: 'introspection' satisfies Scope };
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    if (type) Object.values(type.getFields()).forEach(checkField);
  return schema;
}

/** @throws GatewayError with the code FORBIDDEN if the caller may not use the field or entity */
export function checkScope({ extensions }: Pick<GraphQLObjectType, 'extensions'>, { caller }: Context): void {
  const { scope } = extensions as { scope?: Scope };
  if (scope !== undefined) requireScope(caller, scope);
}

type Field = ReturnType<GraphQLObjectType['getFields']>[string];

function checkField(field: Field): void {
  const { resolve = defaultFieldResolver, extensions } = field;
  if (extensions.scope === undefined) return;
  field.resolve = (source, args, context: Context, info) => {
    checkScope(field, context);
    return resolve(source, args, context, info);
  };
}
