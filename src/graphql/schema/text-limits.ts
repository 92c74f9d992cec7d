import {
  defaultFieldResolver,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { GatewayError } from '../../errors.ts';

/** Maximum numbers of characters, with room for separators. A code is an IBAN, a BIC or a part of them. */
export const maxLengths = { code: 64, country: 16, cursor: 64, id: 200, search: 100 };

/** Options of a text argument or input field, or of a list of texts: its limit, which `withTextLimits` checks. */
export function limitText(maxLength: number, description: string) {
  return { ...stateTextLimit(maxLength, description), extensions: { maxLength } };
}

/** As `limitText`, for a limit that the resolver checks, because a long text is not an error of the whole field. */
export function stateTextLimit(maxLength: number, description: string) {
  return { description: `${description} At most ${maxLength} characters.` };
}

/**
 * Checks the length of texts before a resolver runs: a long text would be normalized, sent upstream, and repeated in the
 * answer once per alias.
 */
export function withTextLimits(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isObjectType(type) && !type.name.startsWith('__')) Object.values(type.getFields()).forEach(checkTexts);
  }
  return schema;
}

/** The same text. @throws GatewayError, without the text, if it is too long */
export function checkText(name: string, text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  throw new GatewayError('BAD_USER_INPUT', `${name} must have at most ${maxLength} characters.`);
}

type Values = Readonly<Record<string, unknown>>;
type Check = (values: Values) => void;

function checkTexts(field: GraphQLField<unknown, unknown>): void {
  const { args, resolve = defaultFieldResolver } = field;
  const check = createCheck(args);
  if (check === null) return;
  field.resolve = (source, values, context, info) => {
    check(values);
    return resolve(source, values, context, info);
  };
}

/** The check of all limited texts among these arguments or input fields; null if there are none. */
function createCheck(inputs: readonly (GraphQLArgument | GraphQLInputField)[]): Check | null {
  const checks = inputs.flatMap(({ name, type: wrappedType, extensions }): Check[] => {
    const { maxLength } = extensions as { maxLength?: number };
    if (maxLength !== undefined)
      return [(values) => forEachItem(values[name], (text) => checkText(name, text as string, maxLength))];
    const type = getNamedType(wrappedType);
    const check = isInputObjectType(type) ? createCheck(Object.values(type.getFields())) : null;
    return check ? [(values) => forEachItem(values[name], (item) => check(item as Values))] : [];
  });
  if (checks.length === 0) return null;
  return (values) => {
    for (const check of checks) check(values);
  };
}

/** Of a list, or of a single value. */
function forEachItem(value: unknown, visit: (item: unknown) => void): void {
  if (Array.isArray(value)) value.forEach(visit);
  else if (value !== null && value !== undefined) visit(value);
}
