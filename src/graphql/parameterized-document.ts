import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
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
import { createMoveLocation, type DocumentShape } from './document-shape.ts';
import { locate } from './document-source.ts';
import type { DocumentTrust } from './operation-label.ts';
import type { PreparedDocument } from './prepared-document.ts';
import type { PreparedOperation } from './prepared-operation.ts';

type Texts = readonly string[];
type Variables = Readonly<Record<string, unknown>>;

/**
 * Replaces the texts of a document by variables, so that it can be prepared for all documents of its shape. If the result is
 * valid, these are as well: a string or an id can have any text, and fields with different variables are never merged. Null
 * if a text is not a string or an id, or is in a directive, default value or description, or if there are several operations.
 */
export function parameterize(schema: GraphQLSchema, document: DocumentNode, textCount: number): DocumentNode | null {
  const variables: VariableDefinitionNode[] = [];
  const typeInfo = new TypeInfo(schema);
  let isReserved = false;
  const parameterized: DocumentNode = visit(
    document,
    visitWithTypeInfo(typeInfo, {
      VariableDefinition: () => false,
      Directive: () => false,
      Variable({ name }) {
        isReserved ||= name.value.startsWith(variablePrefix);
      },
      StringValue({ loc }) {
        const type = typeInfo.getInputType();
        if (!isText(type)) return undefined;
        const name = { kind: Kind.NAME, value: nameOfText(variables.length) } as const;
        const variable: VariableNode = { kind: Kind.VARIABLE, name, ...(loc && { loc }) };
        variables.push({ kind: Kind.VARIABLE_DEFINITION, variable, type: parseType(String(type)) });
        return variable;
      },
    }),
  );
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (isReserved || variables.length !== textCount || operations.length !== 1) return null;
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

function nameOfText(index: number): string {
  return `${variablePrefix}${index}`;
}

/** Creates the prepared documents of one shape. */
export type FillDocument = (texts: Texts) => PreparedDocument;

/**
 * @param parameterized a prepared document with variables for texts
 * @param shape of the document from which it was created
 */
export function createFillDocument(parameterized: PreparedDocument, shape: DocumentShape): FillDocument {
  const move = createMoveLocation(shape);
  /** Most clients send one document again and again. */
  let last: { texts: Texts; document: PreparedDocument } | undefined;

  return (texts) => {
    if (last === undefined || !areEqual(last.texts, texts)) last = { texts, document: fill(texts) };
    return last.document;
  };

  function fill(texts: Texts): PreparedDocument {
    const trust: DocumentTrust = { trustedId: null };
    return {
      ...parameterized,
      trust,
      // Yoga distinguishes the documents of requests by this object.
      document: parameterized.document && { ...parameterized.document },
      operation: (name) => fillOperation(parameterized.operation(name), texts, trust),
    };
  }

  function fillOperation(operation: PreparedOperation, texts: Texts, trust: DocumentTrust): PreparedOperation {
    const values = Object.fromEntries(texts.map((text, index) => [nameOfText(index), text]));
    const withTexts = (variables: Variables) => ({ ...variables, ...values });
    const moveErrors = (result: ExecutionResult): ExecutionResult =>
      result.errors ? { ...result, errors: result.errors.map((error) => moveError(error, texts)) } : result;
    return {
      ...operation,
      label: { ...operation.label, trust },
      cost: (variables) => operation.cost(withTexts(variables)),
      mayBeDelayed: (caller, variables) => operation.mayBeDelayed(caller, withTexts(variables)),
      execute(contextValue, variables, schema) {
        const result = operation.execute(contextValue, withTexts(variables), schema);
        return 'then' in result ? result.then(moveErrors) : moveErrors(result);
      },
    };
  }

  /** Its location is that in the document from which the operation was prepared. */
  function moveError(error: GraphQLError, texts: Texts): GraphQLError {
    const locations = locate(error)?.map((location) => move(location, texts));
    if (locations === undefined) return error;
    const { message, path = null, originalError, extensions } = error;
    return Object.assign(new GraphQLError(message, { path, originalError, extensions }), { locations });
  }
}

function areEqual(texts: Texts, others: Texts): boolean {
  return texts.every((text, index) => text === others[index]);
}
