import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  GraphQLString,
  getNullableType,
  Kind,
  type OperationDefinitionNode,
  parseType,
  TypeInfo,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { DocumentShape } from './shapes.ts';

/**
 * Replaces the texts of a document by variables. If the result is valid, so is every document of its shape: strings and ids
 * accept any text, and two fields with texts are never merged, as their variables differ. Null if a text is not a string or
 * an id, if it is in a directive, a default value or a description, or in an argument with a variable of the client, which
 * error messages may show, and if there are several operations.
 */
export function parameterize(
  schema: GraphQLSchema,
  document: DocumentNode,
  { key, texts }: DocumentShape,
): DocumentNode | null {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operations.length !== 1 || key.includes(variablePrefix)) return null;
  const variables: VariableDefinitionNode[] = [];
  const typeInfo = new TypeInfo(schema);
  let variablesBefore = 0;
  let hasVariable = false;
  let isMixed = false;
  const parameterized: DocumentNode = visit(
    document,
    visitWithTypeInfo(typeInfo, {
      VariableDefinition: () => false,
      Directive: () => false,
      Argument: {
        enter() {
          variablesBefore = variables.length;
          hasVariable = false;
        },
        leave() {
          isMixed ||= hasVariable && variables.length > variablesBefore;
        },
      },
      Variable() {
        hasVariable = true;
      },
      StringValue({ loc }) {
        const type = typeInfo.getInputType();
        if (!isText(type)) return undefined;
        const name = { kind: Kind.NAME, value: nameOfText(variables.length) } as const;
        const variable: VariableNode = { kind: Kind.VARIABLE, name, ...(loc && { loc }) };
        const typeNode = parseType(String(type), { noLocation: true });
        variables.push({ kind: Kind.VARIABLE_DEFINITION, variable, type: typeNode });
        return variable;
      },
    }),
  );
  if (isMixed || variables.length !== texts.length) return null;
  return {
    ...parameterized,
    definitions: parameterized.definitions.map((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? declare(definition, variables) : definition,
    ),
  };
}

function declare(
  operation: OperationDefinitionNode,
  variables: readonly VariableDefinitionNode[],
): OperationDefinitionNode {
  return { ...operation, variableDefinitions: [...(operation.variableDefinitions ?? []), ...variables] };
}

function isText(type: GraphQLInputType | null | undefined): boolean {
  const nullable = getNullableType(type);
  return nullable === GraphQLString || nullable?.toString() === 'ID';
}

const variablePrefix = '__text';

/** Of the variable that replaces a text. */
export function nameOfText(index: number): string {
  return `${variablePrefix}${index}`;
}
