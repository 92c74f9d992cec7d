import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql';
import { fragmentsOf } from '../jit/compilable-operation.ts';
import type { Compiler } from '../jit/compiler.ts';
import type { AddBytes } from './cache.ts';
import { findCacheScope } from './cache-scope.ts';
import { createOperationError, rejectDocument } from './document-errors.ts';
import { selectsIntrospection } from './introspection.ts';
import { createPreparedOperation, type PreparedOperation } from './operation.ts';
import type { DocumentTrust } from './operation-label.ts';
import { validateDocument } from './validate-document.ts';

/** A document that was parsed and validated. */
export interface PreparedDocument {
  /** Shared with its operations, and with the records of their replies. */
  trust: DocumentTrust;
  /** Null if it cannot be parsed. */
  document: DocumentNode | null;
  /** Empty if it is valid. */
  errors: readonly GraphQLError[];
  /** The operation with this name, or the only one. @throws GraphQLError if there is no such operation */
  operation(name: string | null | undefined): PreparedOperation;
}

interface PrepareOptions {
  schema: GraphQLSchema;
  /** Of an operation, in fields and weights. */
  maxCost: number;
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
  const trust: DocumentTrust = { trustedId: null };
  const scope = findCacheScope(document, schema);
  const common = {
    ...options,
    trust,
    document,
    fragments: fragmentsOf(document),
    cacheScope: hasCallers && scope === 'public' ? 'private' : scope,
    usesIntrospection: selectsIntrospection(schema, document),
  } as const;
  return {
    trust,
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
