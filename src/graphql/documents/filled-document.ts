import { type DocumentNode, type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import { maxErrors } from '../request/present-error.ts';
import type { PreparedDocument } from './document.ts';
import type { PreparedOperation } from './operation.ts';
import type { DocumentTrust } from './operation-label.ts';
import { nameOfText } from './parameterize.ts';
import { createMoveLocation, type DocumentShape } from './shapes.ts';
import { locate } from './source.ts';

type Texts = readonly string[];
type Variables = Readonly<Record<string, unknown>>;

/** Creates the prepared documents of one shape. */
export type FillDocument = (texts: Texts) => PreparedDocument;

/**
 * @param prepared the parameterized document, when it was prepared
 * @param shape of the document that was parameterized
 */
export function createFillDocument(
  prepared: PreparedDocument,
  document: DocumentNode,
  shape: DocumentShape,
): FillDocument {
  const move = createMoveLocation(shape);
  const names = getOperationAST(document)?.variableDefinitions?.map(({ variable }) => variable.name.value) ?? [];
  /** The others are those of the texts. */
  const clientNames = names.slice(0, names.length - shape.texts.length);

  return (texts) => {
    const trust: DocumentTrust = { trustedId: null };
    return {
      ...prepared,
      trust,
      // Another object for each request: by it, `usePreparedOperations` finds what was prepared.
      document: { ...document },
      operation: (name) => fillOperation(prepared.operation(name), texts, trust),
    };
  };

  /** The cost and the delay of an operation do not depend on texts. */
  function fillOperation(operation: PreparedOperation, texts: Texts, trust: DocumentTrust): PreparedOperation {
    return {
      ...operation,
      label: { ...operation.label, trust },
      execute(contextValue, variables, schema) {
        const result = operation.execute(contextValue, withTexts(variables, texts), schema);
        return 'then' in result ? result.then((result) => moveErrors(result, texts)) : moveErrors(result, texts);
      },
    };
  }

  /** Without the variables that are not declared, of which there may be many. */
  function withTexts(variables: Variables, texts: Texts): Variables {
    const values: Record<string, unknown> = Object.create(null);
    for (const name of clientNames) if (Object.hasOwn(variables, name)) values[name] = variables[name];
    for (const [index, text] of texts.entries()) values[nameOfText(index)] = text;
    return values;
  }

  /** From the locations in the document that was prepared. Further errors are not shown. */
  function moveErrors(result: ExecutionResult, texts: Texts): ExecutionResult {
    if (result.errors === undefined) return result;
    const errors = result.errors.map((error, index) => (index < maxErrors ? moveError(error, texts) : error));
    return { ...result, errors };
  }

  function moveError(error: GraphQLError, texts: Texts): GraphQLError {
    const locations = locate(error)?.map((location) => move(location, texts));
    if (locations === undefined) return error;
    const { message, path = null, originalError, extensions } = error;
    return Object.assign(new GraphQLError(message, { path, originalError, extensions }), { locations });
  }
}
