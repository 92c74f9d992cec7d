import {
  defaultFieldResolver,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { requireScope } from '../../auth/caller.ts';
import type { Scope } from '../../config/callers.ts';
import { GatewayError } from '../../errors.ts';
import type { Context } from './context.ts';

/** Options of a root field or an entity: the scope that its caller needs. Entities check theirs when they are resolved. */
export const bankDataScope = { scope: 'bank-data' } satisfies { scope: Scope };
export const essaysScope = { scope: 'essays' } satisfies { scope: Scope };

/** Maximum numbers of characters, with room for separators. A code is an IBAN, a BIC or a part of them. */
export const maxLengths = { code: 64, country: 16, cursor: 64, id: 200, search: 100 };

/** Options of a text argument or input field, or of a list of texts: its limit, which is checked before the resolver runs. */
export function limitText(maxLength: number, description: string) {
  return { ...stateTextLimit(maxLength, description), extensions: { maxLength } };
}

/** As `limitText`, for a limit that the resolver checks, because a long text is not an error of the whole field. */
export function stateTextLimit(maxLength: number, description: string) {
  return { description: `${description} At most ${maxLength} characters.` };
}

/**
 * Checks the scope of fields and the length of texts before a resolver runs: a long text would be normalized, sent upstream,
 * and repeated in the answer once per alias.
 */
export function withFieldChecks(schema: GraphQLSchema): GraphQLSchema {
  // Routers read the whole schema as SDL, as clients with this scope do by introspection.
  const service = schema.getQueryType()?.getFields()._service;
  if (service) service.extensions = { ...service.extensions, scope: 'introspection' satisfies Scope };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isObjectType(type) && !type.name.startsWith('__')) Object.values(type.getFields()).forEach(addChecks);
  }
  return schema;
}

/** @throws GatewayError with the code FORBIDDEN if the caller may not use the field or entity */
export function checkScope({ extensions }: Pick<GraphQLObjectType, 'extensions'>, { caller }: Context): void {
  const { scope } = extensions as { scope?: Scope };
  if (scope !== undefined) requireScope(caller, scope);
}

/** Returns the same text. @throws GatewayError, without the text, if it is too long */
export function checkText(name: string, text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  throw new GatewayError('BAD_USER_INPUT', `${name} must have at most ${maxLength} characters.`);
}

type Values = Readonly<Record<string, unknown>>;
type CheckTexts = (values: Values) => void;

function addChecks(field: GraphQLField<unknown, Context>): void {
  const { args, extensions, resolve = defaultFieldResolver } = field;
  const checkTexts = createTextCheck(args);
  if (checkTexts === null && extensions.scope === undefined) return;
  field.resolve = (source, values, context, info) => {
    checkScope(field, context);
    checkTexts?.(values);
    return resolve(source, values, context, info);
  };
}

/** The check of all limited texts among these arguments or input fields; null if there are none. */
function createTextCheck(inputs: readonly (GraphQLArgument | GraphQLInputField)[]): CheckTexts | null {
  const checks = inputs.flatMap(({ name, type: wrappedType, extensions }): CheckTexts[] => {
    const { maxLength } = extensions as { maxLength?: number };
    if (maxLength !== undefined)
      return [(values) => forEachItem(values[name], (text) => checkText(name, text as string, maxLength))];
    const type = getNamedType(wrappedType);
    const check = isInputObjectType(type) ? createTextCheck(Object.values(type.getFields())) : null;
    return check ? [(values) => forEachItem(values[name], (item) => check(item as Values))] : [];
  });
  if (checks.length === 0) return null;
  return (values) => {
    for (const check of checks) check(values);
  };
}

/** Visits the items of a list, or a single value. */
function forEachItem(value: unknown, visit: (item: unknown) => void): void {
  if (Array.isArray(value)) value.forEach(visit);
  else if (value !== null && value !== undefined) visit(value);
}
