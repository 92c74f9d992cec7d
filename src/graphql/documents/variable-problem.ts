import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  GraphQLString,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';

type Variables = Readonly<Record<string, unknown>>;

/** Finds why variables would be too expensive to coerce; null if they are not. */
export type FindVariableProblem = (variables: Variables) => string | null;

/** Of a value; null if there is none. */
type FindProblem = (value: unknown) => string | null;

/**
 * Errors of GraphQL.js repeat invalid values with all their fields, and each unknown field of an input object has one.
 * Finds such values first. Expects a valid operation.
 */
export function createVariableCheck(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): FindVariableProblem {
  const checks = variableDefinitions.map(({ variable, type }) => {
    const inputType = typeFromAST(schema, type) as GraphQLInputType;
    return { name: variable.name.value, find: createCheck(inputType) };
  });
  return (variables) => {
    for (const { name, find } of checks) {
      const problem = Object.hasOwn(variables, name) ? find(variables[name]) : null;
      if (problem !== null) return `Variable "$${name}" has ${problem}.`;
    }
    return null;
  };
}

function createCheck(type: GraphQLInputType): FindProblem {
  if (isNonNullType(type)) return createCheck(type.ofType);
  if (isListType(type)) {
    const find = createCheck(type.ofType);
    return (value) => (Array.isArray(value) ? findFirst(value, find) : find(value));
  }
  if (isInputObjectType(type)) return createObjectCheck(type);
  // Any other scalar accepts whatever JSON it gets.
  if (isScalarType(type) && !isSpecifiedScalarType(type)) return () => null;
  const isText = type === GraphQLString || type.name === 'ID';
  return (value) => {
    if (typeof value === 'string') return isText ? null : findLongText(value, type.name);
    return typeof value === 'object' && value !== null ? `an object or a list where ${type.name} is expected` : null;
  };
}

function createObjectCheck(type: GraphQLInputObjectType): FindProblem {
  const names = Object.keys(type.getFields());
  const fields = new Map(Object.values(type.getFields()).map((field) => [field.name, createCheck(field.type)]));
  return (value) => {
    if (typeof value === 'string') return findLongText(value, type.name);
    if (typeof value !== 'object' || value === null) return null;
    if (Array.isArray(value)) return `a list where ${type.name} is expected`;
    const present = Object.keys(value);
    if (present.length > names.length) return `${present.length} fields; ${type.name} has only ${names.join(', ')}`;
    return findFirst(present, (name) => (fields.get(name) ?? checkUnknown)((value as Variables)[name]));
  };
}

function checkUnknown(value: unknown): string | null {
  if (typeof value === 'object' && value !== null) return 'an object or a list in an unknown field';
  return findLongText(value, 'no field');
}

function findFirst<Item>(items: readonly Item[], find: (item: Item) => string | null): string | null {
  for (const item of items) {
    const problem = find(item);
    if (problem !== null) return problem;
  }
  return null;
}

function findLongText(value: unknown, expected: string): string | null {
  if (typeof value !== 'string' || value.length <= maxLength) return null;
  return `a text of more than ${maxLength} characters where ${expected} is expected`;
}

/** More than any number, or name of an enum value; longer messages are cut off. */
const maxLength = 1_000;
