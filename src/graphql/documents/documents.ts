import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Signal } from '../../async/signal.ts';
import type { CacheStatus } from '../../telemetry/metrics/gateway-metrics.ts';
import { createCompiler } from '../jit/compiler.ts';
import { type AddBytes, bytesOf, createDocumentCache } from './cache.ts';
import { type PreparedDocument, prepareDocument, rejectDocument } from './document.ts';
import { type DocumentLimits, findDocumentProblem } from './limits.ts';
import { createFillDocument, type DocumentShape, type FillDocument, findShape, parameterize } from './shapes.ts';
import { parseDetached } from './source.ts';
import { createPreparationTurns } from './turns.ts';

interface DocumentsOptions {
  schema: GraphQLSchema;
  limits: Pick<DocumentLimits, 'tokens' | 'characters'>;
  /** Whether responses depend on the caller: then only private caches may store them. */
  hasCallers: boolean;
}

/**
 * Parses and validates documents, and prepares their operations. A document is cached when it is sent a second time. When
 * another document of its shape is sent, it is prepared for all documents of this shape. Rejects documents that are much
 * more expensive to parse or validate than their size suggests. Invalid documents are not cached: their errors would hold
 * the text.
 */
export function createPreparedDocuments({ schema, limits, hasCallers }: DocumentsOptions) {
  const common = { schema, hasCallers, compiler: createCompiler(schema) };
  const turns = createPreparationTurns();
  const documents = createDocumentCache<PreparedDocument>();
  const shapes = createDocumentCache<FillDocument>();
  /** Documents, and the keys of their shapes. */
  const seenOnce = new LRUCache<string, true>({
    maxSize: maxSeenCharacters,
    sizeCalculation: (_, text) => text.length,
  });

  return { prepare, prepareInTurn, countKnown: turns.countKnown, status };

  /** At once if the document is known or may be prepared in this turn; otherwise in a later one. Null if the client has left. */
  function prepareInTurn(text: string, signal: Signal): PreparedDocument | null | Promise<PreparedDocument | null> {
    const prepareUnlessLeft = () => (signal.aborted ? null : prepare(text));
    return turns.areFull() && !isKnown(text) ? turns.wait(prepareUnlessLeft) : prepareUnlessLeft();
  }

  function status(): CacheStatus {
    const [single, shared] = [documents.status(), shapes.status()];
    return { entries: single.entries + shared.entries, bytes: single.bytes + shared.bytes };
  }

  function isKnown(text: string): boolean {
    if (documents.has(text)) return true;
    const shape = findShape(text);
    return shape !== null && shapes.has(shape.key);
  }

  function prepare(text: string): PreparedDocument {
    const same = documents.get(text);
    const shape = same || text.length > limits.characters ? null : findShape(text);
    const known = same ?? (shape && fill(shape));
    if (known) {
      turns.countKnown();
      return known;
    }
    turns.begin();
    let document: DocumentNode;
    try {
      document = parseDocument(text);
    } catch (error) {
      return rejectDocument(null, [error as GraphQLError], 'GRAPHQL_PARSE_FAILED');
    }
    if (seenOnce.delete(text))
      return prepareToCache(document, (prepared) => documents.set(text, prepared, bytesOf(document)));
    const filled = shape && seenOnce.delete(shape.key) ? prepareShape(shape, document) : null;
    if (filled !== null) return filled;
    // A document that is never sent again would cost the garbage collector more than parsing it costs.
    const prepared = prepareDocument(document, { ...common, addBytes: ignore });
    if (prepared.errors.length > 0) return prepared;
    seenOnce.set(text, true);
    if (shape) seenOnce.set(shape.key, true);
    return prepared;
  }

  function parseDocument(text: string): DocumentNode {
    const problem = findDocumentProblem(text, limits);
    if (problem !== null) throw new GraphQLError(problem);
    return parseDetached(text, { maxTokens: limits.tokens });
  }

  function fill({ key, texts }: DocumentShape): PreparedDocument | null {
    return shapes.get(key)?.(texts) ?? null;
  }

  /** Prepares a document for all of its shape. Null if that is not possible, or if it is not valid. */
  function prepareShape(shape: DocumentShape, document: DocumentNode): PreparedDocument | null {
    const parameterized = parameterize(schema, document, shape);
    if (parameterized === null) return null;
    const bytes = bytesOf(document, shape.texts.length);
    prepareToCache(parameterized, (prepared) => shapes.set(shape.key, createFillDocument(prepared, shape), bytes));
    return fill(shape);
  }

  /** @param cache called if the document is valid */
  function prepareToCache(document: DocumentNode, cache: (prepared: PreparedDocument) => AddBytes): PreparedDocument {
    let addBytes: AddBytes = ignore;
    const prepared = prepareDocument(document, { ...common, addBytes: (bytes) => addBytes(bytes) });
    if (prepared.errors.length === 0) addBytes = cache(prepared);
    return prepared;
  }
}

function ignore(_bytes: number): void {}

/** The documents and keys that are remembered after they were sent once. */
const maxSeenCharacters = 500_000;
