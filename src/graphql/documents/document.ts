import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  specifiedRules,
  validate,
} from 'graphql';
import type { Compiler } from '../jit/compiler.ts';
import type { AddBytes } from './cache.ts';
import { findCacheScope } from './cache-scope.ts';
import { selectsIntrospection } from './introspection.ts';
import { findComparisonProblem, limitAliases, limitDirectives } from './limits.ts';
import { createPreparedOperation, type PreparedOperation } from './operation.ts';
import { createRequestError } from './source.ts';

/** A document that was parsed and validated. */
export interface PreparedDocument {
  /** Null if it cannot be parsed. */
  document: DocumentNode | null;
  /** Empty if it is valid. */
  errors: readonly GraphQLError[];
  /** The operation with this name, or the only one. @throws GraphQLError if there is no such operation */
  operation(name: string | null | undefined): PreparedOperation;
}

interface PrepareOptions {
  schema: GraphQLSchema;
  /** Whether responses depend on the caller: then only private caches may store them. */
  hasCallers: boolean;
  compiler: Compiler;
  /** Called when an operation is prepared or compiled. */
  addBytes: AddBytes;
}

/** Validates a document, and prepares its operations when they are executed. */
export function prepareDocument(document: DocumentNode, options: PrepareOptions): PreparedDocument {
  const { schema, hasCallers, addBytes } = options;
  const errors = validateDocument(schema, document);
  if (errors.length > 0) return rejectDocument(document, errors, 'GRAPHQL_VALIDATION_FAILED');
  const operations = new Map<OperationDefinitionNode, PreparedOperation>();
  const scope = findCacheScope(document, schema);
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const common = {
    ...options,
    document,
    fragments: new Map(fragments.map((node) => [node.name.value, node])),
    cacheScope: hasCallers && scope === 'public' ? 'private' : scope,
    usesIntrospection: selectsIntrospection(document),
  } as const;
  return {
    document,
    errors,
    operation(name) {
      const definition = getOperationAST(document, name);
      if (!definition) throw createOperationError();
      const known = operations.get(definition);
      if (known) return known;
      const operation = createPreparedOperation({ ...common, definition });
      operations.set(definition, operation);
      addBytes(bytesPerOperation);
      return operation;
    },
  };
}

/** Without compiled code. */
const bytesPerOperation = 3_000;

/** An error that a rule throws is the only one: it throws where reporting each error would take too much work. */
function validateDocument(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  const problem = findComparisonProblem(document);
  if (problem !== null) return [new GraphQLError(problem)];
  try {
    return validate(schema, document, rules);
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

const rules = [limitDirectives, ...specifiedRules, limitAliases];

/** The document with errors, and without operations. */
export function rejectDocument(
  document: DocumentNode | null,
  errors: readonly GraphQLError[],
  code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED' | 'QUERY_NOT_IN_SAFELIST',
): PreparedDocument {
  for (const { extensions } of errors) {
    extensions.code ??= code;
    extensions.http = { status: 400 };
  }
  return {
    document,
    errors,
    operation() {
      throw errors[0];
    },
  };
}

/** As Yoga formulates it. */
export function createOperationError(): GraphQLError {
  return createRequestError('Could not determine what operation to execute.', 'OPERATION_RESOLUTION_FAILURE');
}
