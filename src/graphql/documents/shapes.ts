import {
  type DefinitionNode,
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  GraphQLString,
  getNullableType,
  Kind,
  parseType,
  type SourceLocation,
  TypeInfo,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { locate, maxErrors } from './document-errors.ts';
import type { PreparedDocument, PreparedOperation } from './operation.ts';

/*
 * Clients that use no variables write their texts into the document: `{ bank(bic: "COBADEFF") { name } }`. Each of these
 * documents is new, and they have the same shape: it is prepared once, with a variable in place of each text.
 */

/** A document without its texts. */
export interface DocumentShape {
  /** The same for documents that differ only in their texts, and different for all others: `{ bank(bic: ") { name } }`. */
  key: string;
  /** The values of all strings, in the order of the document: `COBADEFF`. */
  texts: Texts;
}

type Texts = readonly string[];

/**
 * Finds the shape of a document without parsing it. Strings are recognized by their quotes. Null if there are none, many or long
 * ones, comments, escapes, or empty or block strings, and if a string does not end or has an illegal character.
 */
export function findShape(document: string): DocumentShape | null {
  if (!document.includes('"') || ambiguous.test(document)) return null;
  const parts = document.split('"', maxParts);
  const texts = parts.filter((_, index) => index % 2 === 1);
  if (parts.length === maxParts || parts.length % 2 === 0 || !texts.every(isLegal)) return null;
  const key = parts.filter((_, index) => index % 2 === 0).join('"');
  // The first comment is not in a string, and all that follows it may be.
  return key.includes('#') ? null : { key, texts };
}

function isLegal(text: string): boolean {
  return text.length <= maxCharacters && !illegal.test(text);
}

/** All parts of 20 texts, and one more. */
const maxParts = 2 * 20 + 2;
/** The length of a text. Variables and long texts would take memory that the key does not account for. */
const maxCharacters = 200;

/** Escapes, and the quotes of empty and of block strings. */
const ambiguous = /\\|""/;

/** Line breaks and lone surrogates: https://spec.graphql.org/October2021/#StringCharacter */
const illegal = /[\n\r\p{Cs}]/u;

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
  const visitor = visitWithTypeInfo(typeInfo, {
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
  });
  const { definitions, ...parameterized }: DocumentNode = visit(document, visitor);
  if (isMixed || variables.length !== texts.length) return null;
  const declare = (node: DefinitionNode) =>
    node.kind === Kind.OPERATION_DEFINITION
      ? { ...node, variableDefinitions: [...(node.variableDefinitions ?? []), ...variables] }
      : node;
  return { ...parameterized, definitions: definitions.map(declare) };
}

function isText(type: GraphQLInputType | null | undefined): boolean {
  const nullable = getNullableType(type);
  return nullable === GraphQLString || nullable?.toString() === 'ID';
}

const variablePrefix = '__text';

/** The name of the variable that replaces a text. */
function nameOfText(index: number): string {
  return `${variablePrefix}${index}`;
}

type Variables = Readonly<Record<string, unknown>>;

export type FillDocument = ReturnType<typeof createFillDocument>;

/**
 * Creates the prepared documents of one shape.
 * @param prepared the parameterized document, when it was prepared
 * @param shape the shape with the texts of the document that was parameterized
 */
export function createFillDocument(prepared: PreparedDocument, shape: DocumentShape) {
  const move = createMoveLocation(shape);

  return (texts: Texts): PreparedDocument => ({
    ...prepared,
    operation: (name) => fillOperation(prepared.operation(name), texts),
  });

  /** The cost of an operation does not depend on texts. */
  function fillOperation(operation: PreparedOperation, texts: Texts): PreparedOperation {
    return {
      ...operation,
      execute(contextValue, variables, schema) {
        const result = operation.execute(contextValue, withTexts(variables, texts), schema);
        return result instanceof Promise
          ? result.then((result) => moveErrors(result, texts))
          : moveErrors(result, texts);
      },
    };
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

function withTexts(variables: Variables, texts: Texts): Variables {
  return { ...variables, ...Object.fromEntries(texts.map((text, index) => [nameOfText(index), text])) };
}

/** Moves locations from one document to others of the same shape. @param shape of the first one */
export function createMoveLocation({ key, texts }: DocumentShape) {
  const lengths = texts.map(({ length }) => length);
  const starts = findTextStarts(key.split('"'), lengths);

  return ({ line, column }: SourceLocation, texts: Texts): SourceLocation => {
    let moved = column;
    for (const [index, start] of starts.entries()) {
      if (start.line !== line || start.column > column) continue;
      moved += (texts[index]?.length ?? 0) - (lengths[index] ?? 0);
    }
    return { line, column: moved };
  };
}

/** Finds where each text begins. @param parts between the texts; only these contain line breaks */
function findTextStarts(parts: readonly string[], lengths: readonly number[]): SourceLocation[] {
  let line = 1;
  let column = 1;
  return lengths.map((length, index) => {
    const lines = (parts[index] ?? '').split(/\r\n|[\n\r]/);
    const last = lines.at(-1) ?? '';
    line += lines.length - 1;
    column = (lines.length === 1 ? column : 1) + last.length + 1;
    const start = { line, column };
    column += length + 1;
    return start;
  });
}
