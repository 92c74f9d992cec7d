import { hash } from 'node:crypto';
import { type ExecutionResult, GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql';
import { AbortableSignal, type Signal } from '../../../base/async/signal.ts';
import { priceOf } from '../../../base/money.ts';
import { countOf } from '../../../base/process/terminal.ts';
import type { Caller } from '../../callers/caller.ts';
import type { CallOrigin, CallRule, Quote } from '../../request-context.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Trace } from '../../trace.ts';
import { CallQueue, takePlace } from '../../upstream/queue.ts';
import { createRequestError } from '../documents/document-errors.ts';
import { createPreparedDocuments } from '../documents/documents.ts';
import {
  createOperationError,
  type Executed,
  type OperationContext,
  type PreparedDocument,
  type PreparedOperation,
} from '../documents/operation.ts';
import type { TrustedDocuments } from '../documents/trusted-documents.ts';
import type { InlineTrace, StartInlineTrace } from './inline-trace.ts';
import { createKeptReplies, type ReplyKey } from './kept-replies.ts';
import {
  type AnswerGraphql,
  type AskedCalls,
  createPersistedQueries,
  type GraphqlRequest,
  type Params,
  readPaidCalls,
  readParams,
} from './params.ts';
import {
  callHeaders,
  createAbandonedReply,
  createReplies,
  extensionHeaders,
  type RepliesOptions,
  type Reply,
} from './reply.ts';
import { chooseStreamFormat } from './stream-formats.ts';

interface GraphqlHandlerOptions<Context> extends RepliesOptions {
  schema: GraphQLSchema;
  /**
   * Creates the context of one request's resolvers.
   * @param signal aborts when the client disconnects
   * @param isSliced whether the operation is completed in time slices
   */
  createContext: (
    caller: Caller,
    signal: Signal,
    trace: Trace | null,
    isSliced: boolean,
    origin: Partial<CallOrigin>,
    rule?: CallRule | null,
  ) => Context;
  trustedDocuments: TrustedDocuments | null;
  /** Limit for the fields in the response and their weights, for callers without a limit of their own. */
  maxQueryCost: number;
  /** Memory for kept replies. */
  keptReplyBytes: number;
  events: Pick<Events, 'unexpectedError' | 'untrustedDocument'>;
}

export type GraphqlHandler = ReturnType<typeof createGraphqlHandler>;

/** GraphQL over HTTP. Ordinary POST and QUERY requests are answered directly, which takes a tenth of the time; Yoga reads all others. */
export function createGraphqlHandler<Context extends OperationContext>(options: GraphqlHandlerOptions<Context>) {
  const { schema, createContext, trustedDocuments, maxQueryCost, hasCallers, inTimeSlice, prices, redact, events } =
    options;
  const documents = createPreparedDocuments({ schema, hasCallers });
  const persistedQueries = createPersistedQueries(trustedDocuments);
  const replies = createReplies(options);
  const keptReplies = createKeptReplies(options.keptReplyBytes);
  const largeQueries = createLargeQueryTurns();
  let inlineTraces: Promise<StartInlineTrace> | undefined;
  let yoga: Promise<AnswerGraphql> | undefined;
  // A kept reply must not outlive the trust in its document.
  trustedDocuments?.onReloaded(keptReplies.clear);

  return {
    answer,
    answerWithYoga,
    /** Answers with a document of the gateway itself, which is trusted. @param asked as the headers of other requests say it */
    answerOwn: (params: Params, request: GraphqlRequest, caller: Caller, asked: AskedCalls = null) =>
      answerParams(params, request, caller, null, asked),
    caches: () => ({ replies: keptReplies.status(), documents: documents.status() }),
    /** The data behind kept replies has changed. */
    clearReplies: keptReplies.clear,
  };

  function answer(request: GraphqlRequest, caller: Caller): Reply | Promise<Reply> {
    if (request.method === 'GET') return answerWithYoga(request, caller);
    const isOwnReply = replies.asksForExtensions(request, caller) || request.headers[callHeaders.quote] !== undefined;
    const key = isOwnReply ? null : keptReplies.keyOf(request, caller);
    const kept = key === null ? undefined : keptReplies.get(key);
    if (kept) {
      // Its request counts as one with a known document, so that unknown ones leave time for it.
      documents.countKnown();
      return kept;
    }
    const params = readParams(request.body, persistedQueries);
    return params === null ? answerWithYoga(request, caller) : answerParams(params, request, caller, key);
  }

  /** Most clients never need it, and loading it takes 40 ms. */
  async function answerWithYoga(request: GraphqlRequest, caller: Caller): Promise<Reply> {
    yoga ??= import('./yoga.ts').then(({ createGraphqlYoga }) =>
      createGraphqlYoga({ answer: answerParams, persistedQueries, replies }),
    );
    return (await yoga)(request, caller);
  }

  /**
   * @param key to keep the reply; null: it is not kept
   * @param own what is asked for a document of the gateway itself; undefined: it is another one, whose headers say it
   */
  function answerParams(
    params: Params,
    request: GraphqlRequest,
    caller: Caller,
    key: ReplyKey | null = null,
    own: AskedCalls | undefined = undefined,
    inlineTrace: InlineTrace | null = null,
  ): Reply | Promise<Reply> {
    const { signal, mediaType } = request;
    const isRouterTraced =
      replies.asksFor('traces', request, caller) && request.headers[extensionHeaders.traces] === 'ftv1';
    if (isRouterTraced && inlineTrace === null)
      return startInlineTrace().then((trace) => answerParams(params, request, caller, key, own, trace));
    const isTrusted = own !== undefined || (trustedDocuments?.has(params.query) ?? false);
    if (!isTrusted && trustedDocuments?.mode === 'require') {
      return finish(refuse(untrusted, 'QUERY_NOT_IN_SAFELIST'), null);
    }
    const preparing = documents.prepareInTurn(params.query, signal);
    return preparing instanceof Promise ? preparing.then(execute) : execute(preparing);

    function execute(prepared: PreparedDocument | null): Reply | Promise<Reply> {
      if (prepared === null) return createAbandonedReply(mediaType, null);
      if (!isTrusted && prepared.document && trustedDocuments?.mode === 'log') events.untrustedDocument();
      const found = findOperation(prepared, params, request);
      if ('errors' in found) return finish(found, null);
      const variables = params.variables ?? {};
      const cost = found.cost(variables);
      if (found.label.type !== 'query' || cost <= largeQueryCost) return run(found, cost, variables);
      return largeQueries.takeTurn(signal, () => inTimeSlice(() => run(found, cost, variables)));
    }

    function run(
      operation: PreparedOperation,
      cost: number,
      variables: NonNullable<Params['variables']>,
    ): Reply | Promise<Reply> {
      if (signal.aborted) return createAbandonedReply(mediaType, null);
      const isSliced = cost > maxCostInOneSlice;
      const requested = params.extensions?.persistedQuery?.sha256Hash;
      const trustedId = isTrusted ? hash('sha256', params.query) : null;
      const documentId = typeof requested === 'string' ? requested : trustedId;
      const { requestId } = request;
      const origin = { caller: caller.name, requestId, operation: operation.label.name || null, documentId };
      const create = (rule: CallRule | null) => createContext(caller, signal, request.trace, isSliced, origin, rule);
      const asked = own === undefined ? readPaidCalls(request.headers, caller) : own;
      if (asked instanceof GraphQLError) return finish({ errors: [asked] }, null);
      if (asked === null || cost > limitOf(caller)) return complete(create(null));
      return quote(operation, variables, create).then((result) => {
        const { quote } = result.extensions;
        const extensions = { quote: { ...quote, price: priceOf(quote, prices) } };
        if (asked === 'quote' || result.errors !== undefined) return finish({ ...result, extensions }, null);
        if (quote.bankData + quote.essays <= asked) return complete(create({ kind: 'limit', maxCalls: asked }));
        const refused = refuse(describeQuote(quote, asked), 'PAID_CALLS_EXCEEDED');
        return finish({ errors: refused.errors, extensions }, null);
      });

      function complete(context: Context): Reply | Promise<Reply> {
        const executed: Executed = { operation, requestContext: context.requestContext, isTrusted, documentId };
        const limit = limitOf(caller);
        if (cost > limit) {
          return finish(refuse(describeCost(cost, limit), 'BAD_USER_INPUT', { refusal: 'cost' }), executed);
        }
        if (operation.label.type === 'subscription') return subscribe(operation, executed, isSliced, variables);
        const traced = inlineTrace?.execute(operation, context, variables, cost);
        const result = traced ?? operation.execute(context, variables);
        return result instanceof Promise ? result.then((result) => finish(result, executed)) : finish(result, executed);
      }
    }

    async function subscribe(
      operation: PreparedOperation,
      executed: Executed,
      isSliced: boolean,
      variables: NonNullable<Params['variables']>,
    ): Promise<Reply> {
      const ended = new AbortableSignal();
      signal.addEventListener('abort', () => ended.abort(signal.reason));
      const results = await operation.subscribe(
        () => createContext(caller, ended, request.trace, isSliced, executed.requestContext.origin),
        variables,
      );
      const format = chooseStreamFormat(request.headers.accept);
      if (!(Symbol.asyncIterator in results) || format === null) return finish(results as ExecutionResult, executed);
      const authorized = whileAuthorized(results, () => request.confirmCaller(), ended);
      return replies.createStream(format, authorized, request, caller, executed);
    }

    /** @param executed null if no operation was executed */
    function finish(result: ExecutionResult, executed: Executed | null): Reply | Promise<Reply> {
      if (signal.aborted) return createAbandonedReply(mediaType, executed);
      const created = replies.create(inlineTrace?.addTo(result) ?? result, request, caller, executed);
      if (created instanceof Promise) return created.then((reply) => keep(reply, result, executed));
      return keep(created, result, executed);
    }

    function keep(reply: Reply, result: ExecutionResult, executed: Executed | null): Reply {
      if (key !== null && executed !== null && result.errors === undefined) keptReplies.keep(key, reply, executed);
      return reply;
    }
  }

  function limitOf(caller: Caller): number {
    return caller.limits.maxQueryCost ?? maxQueryCost;
  }

  async function startInlineTrace(): Promise<InlineTrace> {
    inlineTraces ??= import('./inline-trace.ts').then(({ createInlineTraces }) =>
      // A trace is written in one go: 10,000 fields take 20 ms. A thousand entities have 7,000.
      createInlineTraces({ schema, redact, maxCost: maxQueryCost / 4 }),
    );
    return (await inlineTraces)();
  }
}

/** Executes an operation without a paid call, and counts those that it would make. A subscription makes none. */
async function quote<Context extends OperationContext>(
  operation: PreparedOperation,
  variables: NonNullable<Params['variables']>,
  create: (rule: CallRule) => Context,
): Promise<ExecutionResult & { extensions: { quote: Quote } }> {
  const quote: Quote = { bankData: 0, essays: 0 };
  const isCounted = operation.label.type !== 'subscription';
  const result = isCounted ? await operation.execute(create({ kind: 'quote', quote }), variables) : { data: null };
  // The errors of fields are those of calls that were not made.
  const { errors } = result;
  return 'data' in result || errors === undefined
    ? { data: null, extensions: { quote } }
    : { errors, extensions: { quote } };
}

function describeQuote({ bankData, essays }: Quote, maxCalls: number): string {
  const counts = { 'bank-data': bankData, essay: essays };
  const calls = Object.entries(counts).flatMap(([name, n]) =>
    n > 0 ? `${countOf(n, 'paid call')} to the ${name} service` : [],
  );
  const allowed = `the request allows ${maxCalls} (Paid-Calls-Max)`;
  return `The operation would make up to ${calls.join(' and ')}; ${allowed}. Nothing was called: ask for less, or allow more.`;
}

/** More than this, as much as the look-ups of seventeen IBANs at least: such a query waits for its turn. */
const largeQueryCost = 200;

/**
 * Large queries take turns, four at a time: with more, none would end sooner, and each holds memory for its look-ups. A query waits
 * before it is executed: what waits would keep all that is created for it later from being collected soon.
 */
export function createLargeQueryTurns() {
  const turns = new CallQueue({ maxConcurrency: 4, maxQueue: Number.MAX_SAFE_INTEGER });

  return {
    /** Executes a query in its turn, or without one: after 250 ms, or at once when its client leaves. */
    async takeTurn<Result>(signal: Signal, execute: () => Result | Promise<Result>): Promise<Result> {
      const hasTurn = await takePlace(turns, signal, maxTurnWaitMs);
      try {
        return await execute();
      } finally {
        if (hasTurn) turns.leave();
      }
    },
  };
}

/** Then a query begins without a turn, so that those before it with a thousand look-ups do not delay it further. */
const maxTurnWaitMs = 250;

/** An operation of a higher cost could take longer than a time slice: it is completed in several. */
const maxCostInOneSlice = 2_000;

/**
 * The results of a subscription while its caller is authorized, which is checked before each result and every few seconds. Then an
 * error follows, by whose code clients get new credentials.
 * @param ended aborted when the caller is not authorized any more, which ends the source of the results
 */
async function* whileAuthorized(
  results: AsyncIterable<ExecutionResult>,
  confirmCaller: () => Promise<boolean>,
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

/** The operation to execute, or why there is none. As in Yoga, an unknown operation is reported before the errors of validation. */
function findOperation(
  { document, errors, operation }: PreparedDocument,
  { operationName }: Params,
  { method, headers, isStreamOnly }: GraphqlRequest,
): PreparedOperation | { errors: readonly GraphQLError[] } {
  // Clients send an empty name for none, as in a URL.
  const name = operationName === '' ? null : operationName;
  const definition = document && getOperationAST(document, name);
  if (document && !definition) return { errors: [createOperationError()] };
  if (definition?.operation === 'mutation' && method !== 'POST') {
    const http = { status: 405, headers: { allow: 'POST' } };
    return refuse('Can only perform a mutation operation from a POST request.', 'BAD_REQUEST', { http });
  }
  if (errors.length > 0) return { errors };
  const isStream = definition?.operation === 'subscription';
  if (isStream ? chooseStreamFormat(headers.accept) !== null : !isStreamOnly) return operation(name);
  const types = isStream ? streamTypes : jsonTypes;
  return refuse(`The Accept header must allow ${types}.`, 'BAD_REQUEST', { http: { status: 406 } });
}

export const jsonTypes = 'application/json or application/graphql-response+json';
const streamTypes = 'multipart/mixed or text/event-stream, because a subscription is answered as a stream';

function refuse(...error: Parameters<typeof createRequestError>): { errors: GraphQLError[] } {
  return { errors: [createRequestError(...error)] };
}

const untrusted = 'This document is not trusted: the gateway executes only those of its operator.';

function describeCost(cost: number, limit: number): string {
  return (
    `The query costs ${cost}; it may cost at most ${limit} (MAX_QUERY_COST). Each field and each object of the ` +
    'response costs 1, a look-up 10, and a long text 100: select fewer fields or shorter lists, or split it into several queries.'
  );
}
