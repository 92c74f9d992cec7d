import { type DocumentNode, GraphQLError, type GraphQLSchema, parse, type Source } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';
import { createCompiler } from './compiler.ts';
import { rejectDocument } from './document-errors.ts';
import { type DocumentLimits, findDocumentProblem } from './document-problem.ts';
import { type DocumentShape, findShape } from './document-shape.ts';
import { parseDetached } from './document-source.ts';
import { createFillDocument, type FillDocument, parameterize } from './parameterized-document.ts';
import { createPreparationTurns } from './preparation-turns.ts';
import { type PreparedDocument, prepareDocument } from './prepared-document.ts';

interface DocumentsOptions {
  schema: GraphQLSchema;
  limits: DocumentLimits;
  /** Whether responses depend on the caller: then only private caches may store them. */
  hasCallers: boolean;
}

export type PrepareDocument = (text: string) => PreparedDocument;
export type WaitForTurn = (text: string) => PromiseLike<void> | null;

interface KnownDocument {
  prepared: PreparedDocument;
  /** Memory of its compiled operations. */
  compiledBytes: number;
  fill: FillDocument;
}

/**
 * Parses and validates documents, and prepares their operations. A document is cached when its shape is sent a second time, if
 * possible for all documents of this shape. Rejects documents that are much more expensive to parse or validate than their
 * size suggests. Invalid documents are not cached: their errors would hold the text, and finding them again is fast.
 */
export function createPreparedDocuments({ schema, limits, hasCallers }: DocumentsOptions) {
  const common = { schema, maxCost: limits.cost, hasCallers, compiler: createCompiler(schema) };
  const turns = createPreparationTurns();
  const documents = new LRUCache<string, KnownDocument>({
    maxSize: maxBytes,
    sizeCalculation: ({ compiledBytes }, key) => (key.length + 100) * bytesPerCharacter + compiledBytes,
  });
  const seenOnce = new LRUCache<string, true>({
    maxSize: maxSeenCharacters,
    sizeCalculation: (_, key) => key.length,
  });

  const status = (): CacheStatus => ({ entries: documents.size, bytes: documents.calculatedSize });
  /** Waits until a document may be prepared; null if that is now. */
  const waitForTurn: WaitForTurn = (text) => (turns.areFull() && !isKnown(text) ? turns.wait() : null);

  return { prepare, waitForTurn, countKnown: turns.countKnown, status };

  function isKnown(text: string): boolean {
    const shape = findShape(text);
    return shape !== null && (documents.has(shape.key) || documents.has(shape.singleKey));
  }

  function prepare(text: string): PreparedDocument {
    const shape = findShape(text);
    const known = shape && find(text, shape);
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
    // A document that is never sent again would cost the garbage collector more than parsing it costs.
    if (shape !== null && seenOnce.delete(shape.key)) return prepareToCache(shape, document);
    const prepared = prepareAs(document, null);
    if (shape !== null && prepared.errors.length === 0) seenOnce.set(shape.key, true);
    return prepared;
  }

  function find(text: string, { key, singleKey, texts }: DocumentShape): PreparedDocument | undefined {
    if (text.length > limits.characters) return undefined;
    return (documents.get(key) ?? documents.get(singleKey))?.fill(texts);
  }

  /** For all documents of its shape if possible. */
  function prepareToCache(shape: DocumentShape, document: DocumentNode): PreparedDocument {
    const { key, singleKey, texts } = shape;
    const parameterized = texts.length > 0 ? parameterize(schema, document, texts.length) : null;
    if (parameterized !== null) {
      const prepared = prepareAs(parameterized, key);
      if (prepared.errors.length === 0) return cache(key, prepared, createFillDocument(prepared, shape)).fill(texts);
    }
    const prepared = prepareAs(document, singleKey);
    return prepared.errors.length === 0 ? cache(singleKey, prepared, () => prepared).fill(texts) : prepared;
  }

  function cache(key: string, prepared: PreparedDocument, fill: FillDocument): KnownDocument {
    const known = { prepared, compiledBytes: 0, fill };
    documents.set(key, known);
    return known;
  }

  /** @param key under which it may be cached; null: it is not */
  function prepareAs(document: DocumentNode, key: string | null): PreparedDocument {
    const prepared = prepareDocument(document, { ...common, onCompiled });
    return prepared;

    function onCompiled(bytes: number): void {
      const known = key === null ? undefined : documents.peek(key);
      if (key === null || known?.prepared !== prepared) return;
      // Its size has changed.
      documents.delete(key);
      documents.set(key, { ...known, compiledBytes: known.compiledBytes + bytes });
    }
  }

  function parseDocument(text: string): DocumentNode {
    const problem = findDocumentProblem(text, limits);
    if (problem !== null) throw new GraphQLError(problem);
    return parseDetached(text, (source: Source) => parse(source, { maxTokens: limits.tokens }));
  }
}

/** Keys of documents that were sent once. */
const maxSeenCharacters = 1_000_000;

/** Of documents in memory. */
const maxBytes = 25_000_000;
/** Of a parsed document, roughly. */
const bytesPerCharacter = 50;
