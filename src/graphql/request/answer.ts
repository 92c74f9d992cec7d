import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import { AbortableSignal, type Signal } from '../../async/signal.ts';
import type { Caller } from '../../auth/caller.ts';
import { parseJson } from '../../parse-json.ts';
import type { Trace } from '../../trace.ts';
import { createOperationError, type PreparedDocument } from '../documents/document.ts';
import type { AnswerInTurn, PrepareDocument } from '../documents/documents.ts';
import type { Executed, OperationContext, PreparedOperation } from '../documents/operation.ts';
import type { InlineTrace, StartInlineTrace } from './inline-trace.ts';
import type { KeptReplies, RequestKey } from './kept-replies.ts';
import { createLargeQueryTurns, largeQueryCost } from './large-queries.ts';
import { type PersistedQueries, withDocumentId } from './persisted-queries.ts';
import { createAbandonedReply, type Replies, type Reply, type RequestedFormat, traceHeader } from './reply.ts';
import { chooseStreamFormat } from './stream-formats.ts';

/** The HTTP request with which GraphQL was asked. */
export interface GraphqlRequest extends RequestedFormat {
  method: string;
  /** Aborts when the client disconnects. */
  signal: Signal;
  trace: Trace | null;
  /** Whether it accepts streams only. */
  isStreamOnly: boolean;
  /** Whether its credentials still identify its caller, who may still use the same. */
  confirmCaller(): boolean | Promise<boolean>;
}

/** A POST request with a JSON body. */
export interface GraphqlPost extends GraphqlRequest {
  body: string;
}

/** The parameters of a GraphQL request, and the text of its document. */
export interface Params {
  query: string;
  operationName?: string | null | undefined;
  variables?: Readonly<Record<string, unknown>> | null | undefined;
  extensions?: { persistedQuery?: { version?: unknown; sha256Hash?: unknown } | null } | null | undefined;
}

interface AnswerOptions<Context> {
  prepare: PrepareDocument;
  inTurn: AnswerInTurn;
  /** Called when a kept reply is sent: it counts as a request with a known document, for which unknown documents wait. */
  countKnown: () => void;
  persistedQueries: PersistedQueries;
  keptReplies: KeptReplies;
  createContext: (caller: Caller, signal: Signal, trace: Trace | null) => Context;
  replies: Replies;
  /** Null: routers cannot request traces. */
  loadInlineTraces: (() => Promise<StartInlineTrace>) | null;
}

/** Answers an ordinary request: a query or the id of a known one, with an operation name and variables. Null for others. */
export type AnswerPost = (post: GraphqlPost, caller: Caller) => Reply | Promise<Reply> | null;

export type Answer = (params: Params, request: GraphqlRequest, caller: Caller) => Reply | Promise<Reply>;

/** Creates the function that answers ordinary requests, and the one behind it, which also answers those that Yoga reads. */
export function createAnswer<Context extends OperationContext>({
  prepare,
  inTurn,
  countKnown,
  persistedQueries,
  keptReplies,
  createContext,
  replies,
  loadInlineTraces,
}: AnswerOptions<Context>): { answerPost: AnswerPost; answer: Answer } {
  const largeQueries = createLargeQueryTurns();

  return { answerPost, answer };

  function answerPost(post: GraphqlPost, caller: Caller): Reply | Promise<Reply> | null {
    const key = replies.asksForExtensions(post.headers) ? null : keptReplies.keyOf(post, caller);
    const kept = key === null ? undefined : keptReplies.get(key);
    if (kept) {
      countKnown();
      return kept;
    }
    const params = readParams(post.body, persistedQueries);
    return params && answer(params, post, caller, key);
  }

  /** @param key to keep the reply; null: it is not kept */
  function answer(
    params: Params,
    request: GraphqlRequest,
    caller: Caller,
    key: RequestKey | null = null,
  ): Reply | Promise<Reply> {
    const isTraced = loadInlineTraces !== null && request.headers[traceHeader] === 'ftv1';
    if (isTraced) return loadInlineTraces().then((start) => inTurn(params.query, () => execute(start())));
    return inTurn(params.query, () => execute(null));

    function execute(inlineTrace: InlineTrace | null): Reply | Promise<Reply> {
      if (request.signal.aborted) return createAbandonedReply(request.mediaType, null);
      const { operation, errors } = findOperation(prepare(params.query), params, request);
      if (operation === null) return finish({ errors }, null);
      const variables = params.variables ?? {};
      const isLarge = operation.label.type === 'query' && operation.cost(variables) > largeQueryCost;
      return isLarge ? largeQueries.takeTurn(request.signal, () => run(operation)) : run(operation);

      function run(operation: PreparedOperation): Reply | Promise<Reply> {
        if (request.signal.aborted) return createAbandonedReply(request.mediaType, null);
        const hash = params.extensions?.persistedQuery?.sha256Hash;
        const documentId = typeof hash === 'string' ? hash : null;
        if (operation.label.type === 'subscription') return subscribe(operation, documentId);
        const context = createContext(caller, request.signal, request.trace);
        const executed = { operation, requestContext: context.requestContext, documentId };
        const result = inlineTrace
          ? inlineTrace.execute(operation, context, variables)
          : operation.execute(context, variables);
        return result instanceof Promise ? result.then((result) => finish(result, executed)) : finish(result, executed);
      }

      async function subscribe(operation: PreparedOperation, documentId: string | null): Promise<Reply> {
        const ended = new AbortableSignal();
        request.signal.addEventListener('abort', () => ended.abort(request.signal.reason));
        const createEventContext = () => createContext(caller, ended, request.trace);
        const results = await operation.subscribe(createEventContext, variables);
        const executed = { operation, requestContext: createEventContext().requestContext, documentId };
        const format = chooseStreamFormat(request.headers.accept);
        if (!(Symbol.asyncIterator in results) || format === null) return finish(results as ExecutionResult, executed);
        const authorized = whileAuthorized(results, () => request.confirmCaller(), ended);
        return replies.createStream(format, authorized, request, caller, executed);
      }

      function finish(result: ExecutionResult, executed: Executed | null): Reply {
        if (request.signal.aborted) return createAbandonedReply(request.mediaType, executed);
        const reply = replies.create(inlineTrace ? inlineTrace.addTo(result) : result, request, caller, executed);
        if (key !== null && executed !== null && result.errors === undefined) keptReplies.keep(key, reply, executed);
        return reply;
      }
    }
  }
}

/**
 * The results of a subscription while its caller is authorized, which is checked before each result and every few seconds. Then an
 * error follows, by whose code clients get new credentials.
 * @param ended aborted when the caller is not authorized any more, which ends the source of the results
 */
async function* whileAuthorized(
  results: AsyncIterable<ExecutionResult>,
  confirmCaller: () => boolean | Promise<boolean>,
  ended: AbortableSignal,
): AsyncGenerator<ExecutionResult> {
  let isAuthorized = true;
  const timer = setInterval(() => void check(), confirmEveryMs).unref();
  try {
    for await (const result of results) {
      await check();
      if (!isAuthorized) break;
      yield result;
    }
    if (!isAuthorized) yield { errors: [createExpiredError()] };
  } finally {
    clearInterval(timer);
  }

  async function check(): Promise<void> {
    if (await confirmCaller()) return;
    isAuthorized = false;
    ended.abort(null);
  }
}

const confirmEveryMs = 5_000;

function createExpiredError(): GraphQLError {
  const message = 'The credentials of this subscription have expired or were changed; subscribe again with valid ones.';
  return new GraphQLError(message, { extensions: { code: 'UNAUTHENTICATED' } });
}

/** Null if the request is not an ordinary one, its id is unknown, or its query is to be registered. Ignores unknown parameters. */
function readParams(body: string, persistedQueries: PersistedQueries): Params | null {
  const params = parseJson(body);
  if (!isRecord(params)) return null;
  const { query, operationName, variables, documentId } = params;
  const extensions = query == null && documentId != null ? withDocumentId(params) : params.extensions;
  const isOrdinary =
    (query == null || typeof query === 'string') &&
    (operationName == null || typeof operationName === 'string') &&
    (variables == null || isRecord(variables)) &&
    (extensions == null || isRecord(extensions));
  if (!isOrdinary) return null;
  const text = findQuery(query ?? null, extensions?.persistedQuery, persistedQueries);
  return text === null ? null : { query: text, operationName, variables, extensions };
}

function findQuery(query: string | null, persisted: unknown, persistedQueries: PersistedQueries): string | null {
  if (persisted == null) return query;
  if (!isRecord(persisted) || persisted.version !== 1 || typeof persisted.sha256Hash !== 'string') return null;
  const known = persistedQueries.get(persisted.sha256Hash) ?? null;
  return query === null || query === known ? known : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface FoundOperation {
  /** Null: there is none, or it may not be executed. */
  operation: PreparedOperation | null;
  errors: readonly GraphQLError[];
}

/** As in Yoga, an unknown operation is reported before the errors of validation. */
function findOperation(
  { document, errors, operation }: PreparedDocument,
  { operationName }: Params,
  { method, headers, isStreamOnly }: GraphqlRequest,
): FoundOperation {
  // Clients send an empty name for none, as in a URL.
  const name = operationName === '' ? null : operationName;
  const definition = document && getOperationAST(document, name);
  if (document && !definition) return { operation: null, errors: [createOperationError()] };
  if (definition?.operation === 'mutation' && method === 'GET') return { operation: null, errors: [createGetError()] };
  if (errors.length > 0) return { operation: null, errors };
  const isStream = definition?.operation === 'subscription';
  if (isStream ? chooseStreamFormat(headers.accept) === null : isStreamOnly) {
    return { operation: null, errors: [createFormatError(isStream ? streamTypes : jsonTypes)] };
  }
  return { operation: operation(name), errors };
}

export const jsonTypes = 'application/json or application/graphql-response+json';
const streamTypes = 'multipart/mixed or text/event-stream, because a subscription is answered as a stream';

function createFormatError(types: string): GraphQLError {
  const extensions = { code: 'BAD_REQUEST', http: { status: 406 } };
  return new GraphQLError(`The Accept header must allow ${types}.`, { extensions });
}

function createGetError(): GraphQLError {
  const http = { status: 405, headers: { allow: 'POST' } };
  const extensions = { code: 'BAD_REQUEST', http };
  return new GraphQLError('Can only perform a mutation operation from a POST request.', { extensions });
}
