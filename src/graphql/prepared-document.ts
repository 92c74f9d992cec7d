import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  type Source,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';
import { createCompiler } from './compiler.ts';
import { createOperationError, rejectDocument } from './document-errors.ts';
import { type DocumentLimits, findDocumentProblem } from './document-problem.ts';
import { parseDetached } from './document-source.ts';
import type { DocumentTrust } from './operation-label.ts';
import { createPreparationTurns } from './preparation-turns.ts';
import { createPreparedOperation, type PreparedOperation } from './prepared-operation.ts';
import { validateDocument } from './validate-document.ts';

/** A document that was parsed and validated. */
export interface PreparedDocument {
  /** Shared with its operations, and with the records of their replies. */
  trust: DocumentTrust;
  /** Null if it cannot be parsed. */
  document: DocumentNode | null;
  /** Empty if it is valid. */
  errors: readonly GraphQLError[];
  /** Memory of its compiled operations, in bytes. */
  compiledBytes: number;
  /** The operation with this name, or the only one. @throws GraphQLError if there is no such operation */
  operation(name: string | null | undefined): PreparedOperation;
}

interface DocumentsOptions {
  schema: GraphQLSchema;
  limits: DocumentLimits;
  /** Whether responses depend on the caller: then only private caches may store them. */
  hasCallers: boolean;
}

export type PrepareDocument = (text: string) => PreparedDocument;
export type WaitForTurn = (text: string) => PromiseLike<void> | null;

/**
 * Parses and validates documents, and prepares their operations. A document is cached when it is sent a second time.
 * Rejects documents that are much more expensive to parse or validate than their size suggests. Invalid documents are not
 * cached: their errors would hold the text, and finding them again is fast.
 */
export function createPreparedDocuments({ schema, limits, hasCallers }: DocumentsOptions) {
  const compiler = createCompiler(schema);
  const turns = createPreparationTurns();
  const documents = new LRUCache<string, PreparedDocument>({
    maxSize: maxBytes,
    sizeCalculation: ({ compiledBytes }, text) => (text.length + 100) * bytesPerCharacter + compiledBytes,
  });
  const seenOnce = new LRUCache<string, true>({
    maxSize: maxSeenCharacters,
    sizeCalculation: (_, text) => text.length,
  });

  const status = (): CacheStatus => ({ entries: documents.size, bytes: documents.calculatedSize });
  /** Waits until a document may be prepared; null if that is now. */
  const waitForTurn: WaitForTurn = (text) => (turns.areFull() && !documents.has(text) ? turns.wait() : null);

  return { prepare, waitForTurn, countKnown: turns.countKnown, status };

  function prepare(text: string): PreparedDocument {
    const known = documents.get(text);
    if (known) {
      turns.countKnown();
      return known;
    }
    turns.begin();
    const prepared = prepareDocument(text);
    if (prepared.errors.length > 0) return prepared;
    // A document that is never sent again would cost the garbage collector more than parsing it costs.
    if (seenOnce.delete(text)) documents.set(text, prepared);
    else seenOnce.set(text, true);
    return prepared;
  }

  function prepareDocument(text: string): PreparedDocument {
    let document: DocumentNode;
    try {
      document = parseDocument(text);
    } catch (error) {
      return rejectDocument(null, [error as GraphQLError], 'GRAPHQL_PARSE_FAILED');
    }
    const errors = validateDocument(schema, document);
    if (errors.length > 0) return rejectDocument(document, errors, 'GRAPHQL_VALIDATION_FAILED');
    const operations = new Map<OperationDefinitionNode, PreparedOperation>();
    const trust: DocumentTrust = { trustedId: null };
    const prepared: PreparedDocument = {
      trust,
      document,
      errors,
      compiledBytes: 0,
      operation(name) {
        const definition = getOperationAST(document, name);
        if (!definition) throw createOperationError();
        const known = operations.get(definition);
        if (known) return known;
        const common = { schema, trust, document, maxCost: limits.cost, hasCallers, compiler, onCompiled };
        const operation = createPreparedOperation({ ...common, definition });
        operations.set(definition, operation);
        return operation;
      },
    };
    return prepared;

    function onCompiled(bytes: number): void {
      prepared.compiledBytes += bytes;
      // Its size has changed.
      if (documents.peek(text) !== prepared) return;
      documents.delete(text);
      documents.set(text, prepared);
    }
  }

  function parseDocument(text: string): DocumentNode {
    const problem = findDocumentProblem(text, limits);
    if (problem !== null) throw new GraphQLError(problem);
    return parseDetached(text, (source: Source) => parse(source, { maxTokens: limits.tokens }));
  }
}

/** Texts of documents that were sent once. */
const maxSeenCharacters = 1_000_000;

/** Of documents in memory. */
const maxBytes = 25_000_000;
/** Of a parsed document, roughly. */
const bytesPerCharacter = 50;
