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

type Input = GraphQLArgument | GraphQLInputField;
type Values = Readonly<Record<string, unknown>>;

function checkTexts(field: GraphQLField<unknown, unknown>): void {
  const { args: inputs, resolve = defaultFieldResolver } = field;
  if (inputs.length === 0) return;
  field.resolve = (source, values, context, info) => {
    rejectLongTexts(inputs, values);
    return resolve(source, values, context, info);
  };
}

function rejectLongTexts(inputs: readonly Input[], values: Values): void {
  for (const { name, type: wrappedType, extensions } of inputs) {
    const items = [values[name] ?? []].flat();
    const type = getNamedType(wrappedType);
    if (isInputObjectType(type)) {
      for (const item of items) rejectLongTexts(Object.values(type.getFields()), item as Values);
    }
    const { maxLength } = extensions as { maxLength?: number };
    if (maxLength !== undefined) for (const item of items) checkText(name, item as string, maxLength);
  }
}
