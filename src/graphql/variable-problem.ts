import {
  type GraphQLInputObjectType,
  type GraphQLSchema,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';

/** Whether any variable is an input object. */
export function hasInputObjects(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): boolean {
  return variableDefinitions.some((definition) => inputObjectOf(schema, definition) !== null);
}

/**
 * Finds a variable with more fields than its input object; null if there is none. GraphQL would report each unknown field
 * in an error that repeats all of them. Expects a valid operation.
 */
export function findVariableProblem(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): string | null {
  for (const definition of variableDefinitions) {
    const input = inputObjectOf(schema, definition);
    const { value: name } = definition.variable.name;
    const value = variables[name];
    if (input === null || typeof value !== 'object' || value === null) continue;
    const fields = Object.keys(input.getFields());
    const count = Object.keys(value).length;
    if (count > fields.length) {
      return `Variable "$${name}" has ${count} fields; ${input.name} has only ${fields.join(', ')}.`;
    }
  }
  return null;
}

function inputObjectOf(schema: GraphQLSchema, { type }: VariableDefinitionNode): GraphQLInputObjectType | null {
  const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  const input = named.kind === Kind.NAMED_TYPE ? schema.getType(named.name.value) : undefined;
  return isInputObjectType(input) ? input : null;
}
