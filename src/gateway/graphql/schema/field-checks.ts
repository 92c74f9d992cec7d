import {
  defaultFieldResolver,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { GatewayError } from '../../../base/errors.ts';
import { requireScope } from '../../callers/caller.ts';
import type { Scope } from '../../config/callers.ts';
import type { Context } from './context.ts';

/** Options of a root field or an entity: the scope that its caller needs. Entities check theirs when they are resolved. */
export const bankDataScope = { scope: 'bank-data' } satisfies { scope: Scope };
export const essaysScope = { scope: 'essays' } satisfies { scope: Scope };

/** The extensions of a field or entity that say which scope its caller needs. */
export interface RequiredScopes {
  scope?: Scope;
  /** One of these, by the value of an argument; the resolver checks it. */
  anyScope?: readonly Scope[];
}

/** Maximum numbers of characters, with room for separators. A code is an IBAN, a BIC or a part of them. */
export const maxLengths = { code: 64, country: 16, cursor: 64, id: 200, nodeId: 300, search: 100 };

/**
 * Options of a text argument or input field, or of a list of texts: its limit, which is checked before the resolver runs.
 * @param noun what users call it
 */
export function limitText(noun: string, maxLength: number, description: string) {
  return { ...stateTextLimit(maxLength, description), extensions: { maxLength, noun } };
}

/** As `limitText`, for a text that must be sent. */
export function requireText(noun: string, maxLength: number, description: string) {
  return { required: true, ...limitText(noun, maxLength, description) } as const;
}

/** As `limitText`, for a limit that the resolver checks, because a long text is not an error of the whole field. */
export function stateTextLimit(maxLength: number, description: string) {
  return { description: `${description} At most ${maxLength} characters.` };
}

/**
 * Changes the resolvers of a schema: they check the scope of fields and the length of texts before they run. A long text would be
 * normalized, sent upstream, and repeated in the answer once per alias.
 */
export function addFieldChecks(schema: GraphQLSchema): void {
  // Routers read the whole schema as SDL, as clients with this scope do by introspection.
  const service = schema.getQueryType()?.getFields()._service;
  if (service) service.extensions = { ...service.extensions, scope: 'introspection' satisfies Scope };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isObjectType(type) && !type.name.startsWith('__')) Object.values(type.getFields()).forEach(addChecks);
  }
}

/** @throws GatewayError with the code FORBIDDEN if the caller may not use the field or entity */
export function checkScope({ extensions }: Pick<GraphQLObjectType, 'extensions'>, { caller }: Context): void {
  const { scope } = extensions as RequiredScopes;
  if (scope !== undefined) requireScope(caller, scope);
}

/** Returns the same text. @throws GatewayError, without the text, if it is too long */
export function checkText(noun: string, text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  throw new GatewayError('BAD_USER_INPUT', `The ${noun} must have at most ${maxLength} characters.`);
}

function addChecks(field: GraphQLField<unknown, Context>): void {
  const { args, extensions, resolve = defaultFieldResolver, subscribe } = field;
  const limits = findTextLimits(args);
  if (limits.length === 0 && extensions.scope === undefined) return;
  const withChecks = (run: GraphQLFieldResolver<unknown, Context>): GraphQLFieldResolver<unknown, Context> => {
    return (source, values, context, info) => {
      checkScope(field, context);
      for (const limit of limits) checkTexts(values, limit);
      return run(source, values, context, info);
    };
  };
  // The source of a subscription is checked once, not each of its events.
  if (subscribe) field.subscribe = withChecks(subscribe);
  else field.resolve = withChecks(resolve);
}

interface TextLimit {
  /** Names of an argument and of fields of input objects. */
  path: readonly string[];
  maxLength: number;
  noun: string;
}

/** The limits of all texts among these arguments or input fields. */
function findTextLimits(inputs: readonly (GraphQLArgument | GraphQLInputField)[]): TextLimit[] {
  return inputs.flatMap(({ name, type: wrappedType, extensions }): TextLimit[] => {
    const { maxLength, noun } = extensions as { maxLength?: number; noun: string };
    if (maxLength !== undefined) return [{ path: [name], maxLength, noun }];
    const type = getNamedType(wrappedType);
    const limits = isInputObjectType(type) ? findTextLimits(Object.values(type.getFields())) : [];
    return limits.map((limit) => ({ ...limit, path: [name, ...limit.path] }));
  });
}

/** Checks the text at the path below a value, or all texts if there are lists on the way. */
function checkTexts(value: unknown, limit: TextLimit, depth = 0): void {
  if (value === null || value === undefined) return;
  const name = limit.path[depth];
  if (Array.isArray(value)) for (const item of value) checkTexts(item, limit, depth);
  else if (name === undefined) checkText(limit.noun, value as string, limit.maxLength);
  else checkTexts((value as Record<string, unknown>)[name], limit, depth + 1);
}
