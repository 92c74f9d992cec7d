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
import { LRUCache } from 'lru-cache';
import type { Signal } from '../../../base/async/signal.ts';
import type { CacheStatus } from '../../telemetry/metrics/exposition.ts';
import { createCompiler } from '../jit/compiler.ts';
import { findCacheScope } from './cache-scope.ts';
import { parseDetached } from './document-errors.ts';
import { findDocumentProblem, findTextProblem, limitAliases, limitDirectives, maxTokens } from './document-limits.ts';
import {
  createOperationError,
  createPreparedOperation,
  type PreparedDocument,
  type PreparedOperation,
} from './operation.ts';

interface DocumentsOptions {
  schema: GraphQLSchema;
  /** Whether responses depend on the caller: then only private caches may store them. */
  hasCallers: boolean;
}

/**
 * Parses and validates documents, and prepares their operations. A document is cached when it is sent a second time. Rejects
 * documents that are much more expensive to parse or validate than their size suggests. Invalid documents are not cached: their
 * errors would hold the text.
 */
export function createPreparedDocuments({ schema, hasCallers }: DocumentsOptions) {
  const compiler = createCompiler(schema);
  const turns = createPreparationTurns();
  const documents = createDocumentCache<PreparedDocument>();
  const seenOnce = new LRUCache<string, true>({
    maxSize: maxSeenCharacters,
    sizeCalculation: (_, text) => text.length,
  });

  return { prepare, prepareInTurn, countKnown: turns.countKnown, status: documents.status };

  /** At once if the document is known or may be prepared in this turn; otherwise in a later one. Null if the client has left. */
  function prepareInTurn(text: string, signal: Signal): PreparedDocument | null | Promise<PreparedDocument | null> {
    const prepareUnlessLeft = () => (signal.aborted ? null : prepare(text));
    return turns.areFull() && !documents.has(text) ? turns.wait(prepareUnlessLeft) : prepareUnlessLeft();
  }

  function prepare(text: string): PreparedDocument {
    const known = documents.get(text);
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
    let addBytes: AddBytes = () => {};
    const prepared = prepareDocument(document, (bytes) => addBytes(bytes));
    if (prepared.errors.length > 0) return prepared;
    // A document that is never sent again would cost the garbage collector more than parsing it costs.
    if (seenOnce.delete(text)) addBytes = documents.set(text, prepared, bytesOf(document));
    else seenOnce.set(text, true);
    return prepared;
  }

  /**
   * Validates a document, and prepares its operations when they are executed.
   * @param addBytes called when an operation is prepared or compiled
   */
  function prepareDocument(document: DocumentNode, addBytes: AddBytes): PreparedDocument {
    const errors = validateDocument(schema, document);
    if (errors.length > 0) return rejectDocument(document, errors, 'GRAPHQL_VALIDATION_FAILED');
    const operations = new Map<OperationDefinitionNode, PreparedOperation>();
    const scope = findCacheScope(document, schema);
    const cacheScope = hasCallers && scope === 'public' ? 'private' : scope;
    const fragments = new Map(
      document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
    );
    return {
      document,
      errors,
      operation(name) {
        const definition = getOperationAST(document, name);
        if (!definition) throw createOperationError();
        const known = operations.get(definition);
        if (known) return known;
        const parts = { document, definition, fragments, cacheScope };
        const operation = createPreparedOperation({ schema, compiler, addBytes, ...parts });
        operations.set(definition, operation);
        addBytes(bytesPerOperation);
        return operation;
      },
    };
  }
}

/** The characters of the documents that are remembered after they were sent once. */
const maxSeenCharacters = 500_000;

/** Without compiled code. */
const bytesPerOperation = 3_000;

function parseDocument(text: string): DocumentNode {
  const problem = findTextProblem(text);
  if (problem !== null) throw new GraphQLError(problem);
  return parseDetached(text, { maxTokens });
}

/** An error that a rule throws is the only one: it throws where reporting each error would take too much work. */
function validateDocument(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  const problem = findDocumentProblem(document);
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
function rejectDocument(
  document: DocumentNode | null,
  errors: readonly GraphQLError[],
  code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED',
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

/**
 * Limits the time that each turn of the event loop spends on unknown documents; those over the limit wait for later turns.
 * Preparing a document takes several times as long as a request with a known one, so clients that send a new document each
 * time would otherwise take most of the time from all others. While there are requests with known documents, every second
 * turn prepares one unknown document. While there are none, each turn prepares unknown documents for a millisecond.
 */
function createPreparationTurns() {
  const waiting: (() => void)[] = [];
  /** When the first document of this turn was prepared; null if there was none. */
  let begunAt: number | null = null;
  /** Requests with known documents, in this turn and in the one before. */
  let known = 0;
  let knownBefore = 0;
  /** Whether this turn is left to known documents. */
  let isForKnown = false;

  return {
    /** Whether a further unknown document has to wait. */
    areFull: () => waiting.length > 0 || !hasTime(),
    /** Called when an unknown document is prepared. */
    begin() {
      if (begunAt !== null) return;
      begunAt = performance.now();
      setImmediate(startTurn);
    },
    /** Called when a document was known, or not needed because its reply was kept. */
    countKnown() {
      known += 1;
    },
    /** Calls the function in a later turn, in the order of the calls. */
    wait: <Result>(run: () => Result | Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(run());
          } catch (error) {
            reject(error);
          }
        });
      }),
  };

  function hasTime(): boolean {
    return begunAt === null || (known + knownBefore === 0 && performance.now() - begunAt <= maxTurnMs);
  }

  function startTurn(): void {
    knownBefore = known;
    known = 0;
    isForKnown = knownBefore > 0 && !isForKnown;
    if (isForKnown) {
      setImmediate(startTurn);
      return;
    }
    begunAt = null;
    // A request whose document is known by now, or whose client has left, takes no time from the next one.
    while (hasTime()) {
      const startNext = waiting.shift();
      if (startNext === undefined) return;
      startNext();
    }
  }
}

/** The time of a turn without known documents. */
const maxTurnMs = 1;

/** Counts further memory of an entry, in bytes. */
export type AddBytes = (bytes: number) => void;

/** What was prepared for documents, bounded in bytes. */
function createDocumentCache<Value>() {
  const entries = new LRUCache<string, { value: Value; bytes: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
  });
  return {
    get: (key: string) => entries.get(key)?.value,
    has: (key: string) => entries.has(key),
    /** @returns a function to call when the entry has grown */
    set(key: string, value: Value, bytes: number): AddBytes {
      entries.set(key, { value, bytes });
      return (added) => {
        const entry = entries.peek(key);
        if (entry?.value === value) entries.set(key, { value, bytes: entry.bytes + added });
      };
    },
    status: (): CacheStatus => ({ entries: entries.size, bytes: entries.calculatedSize }),
  };
}

const maxBytes = 12_500_000;

/** The memory of a parsed document, roughly: its nodes, its text and what was prepared for it. */
function bytesOf({ tokenCount = 0, loc }: DocumentNode): number {
  return tokenCount * bytesPerToken + (loc?.end ?? 0) * bytesPerCharacter + bytesPerDocument;
}

const bytesPerToken = 250;
const bytesPerCharacter = 10;
const bytesPerDocument = 3_000;
