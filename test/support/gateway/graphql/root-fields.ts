import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
} from 'graphql';
import { schema } from '../../../../src/gateway/graphql/schema/schema.ts';

/** Fields that need no scope, or check the one of what they find: they return nothing of either service to a caller who may not use it. */
export const openFields = ['Query._entities', 'Query.allowances', 'Query.limits', 'Query.node'];

export const rootFields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
  Object.values(type?.getFields() ?? {}).map((field) => ({ type: String(type), field, name: `${type}.${field.name}` })),
);
export const scopedFields = rootFields.filter(({ name }) => !openFields.includes(name));
const union = schema.getType('_Entity');
export const entities = isUnionType(union) ? union.getTypes() : [];

/** A value that is valid for GraphQL. */
function exampleOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return exampleOf(type.ofType);
  if (isListType(type)) return `[${exampleOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (!isInputObjectType(type)) return type.name === 'Int' ? '7' : '"DE"';
  const required = Object.values(type.getFields()).filter(isRequiredInputField);
  return `{ ${required.map((field) => `${field.name}: ${exampleOf(field.type)}`).join()} }`;
}

/** Selects a root field with all required arguments. */
export function selectionOf({ name, args, type }: GraphQLField<unknown, unknown>, directive = ''): string {
  const required = args.filter(isRequiredArgument).map((arg) => `${arg.name}: ${exampleOf(arg.type)}`);
  const isComposite = 'getFields' in getNamedType(type) || isUnionType(getNamedType(type));
  return `${name}${required.length > 0 ? `(${required.join()})` : ''}${directive}${isComposite ? ' { __typename }' : ''}`;
}
