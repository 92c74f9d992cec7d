import { type GraphQLSchema, isInputObjectType, Kind, type OperationDefinitionNode } from 'graphql';

/**
 * Finds a variable with more fields than its input object; null if there is none. GraphQL would report each unknown field
 * in an error that repeats all of them. Expects a valid operation.
 */
export function findVariableProblem(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): string | null {
  for (const { variable, type } of variableDefinitions) {
    const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
    const input = named.kind === Kind.NAMED_TYPE ? schema.getType(named.name.value) : undefined;
    const value = variables[variable.name.value];
    if (!isInputObjectType(input) || typeof value !== 'object' || value === null) continue;
    const fields = Object.keys(input.getFields());
    const count = Object.keys(value).length;
    if (count > fields.length) {
      return `Variable "$${variable.name.value}" has ${count} fields; ${input.name} has only ${fields.join(', ')}.`;
    }
  }
  return null;
}
