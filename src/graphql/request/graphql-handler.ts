import type { GraphQLSchema } from 'graphql';
import type { Signal } from '../../async/signal.ts';
import type { Caller } from '../../auth/caller.ts';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Trace } from '../../trace.ts';
import { createPreparedDocuments } from '../documents/documents.ts';
import type { DocumentLimits } from '../documents/limits.ts';
import type { OperationContext } from '../documents/operation.ts';
import { createAnswer, type GraphqlPost } from './answer.ts';
import type { StartInlineTrace } from './inline-trace.ts';
import { createKeptReplies } from './kept-replies.ts';
import { createPersistedQueries, withTrustedDocuments, withTrustedQueries } from './persisted-queries.ts';
import { createReplies, type RepliesOptions } from './reply.ts';
import type { GraphqlYoga } from './yoga.ts';

interface GraphqlHandlerOptions<Context> extends RepliesOptions {
  schema: GraphQLSchema;
  /** Creates the context of one request's resolvers. @param signal aborts when the client disconnects */
  createContext: (caller: Caller, signal: Signal, trace: Trace | null) => Context;
  /** The caller of requests without the HTTP request handler. */
  localCaller: Caller;
  trustedDocuments: TrustedDocuments | null;
  documentLimits: DocumentLimits;
  /** Memory for kept replies. */
  keptReplyBytes: number;
  events: Pick<Events, 'unexpectedError' | 'untrustedDocument'>;
}

/** GraphQL over HTTP. Ordinary POST requests are answered directly, which takes a tenth of the time; Yoga reads all others. */
export function createGraphqlHandler<Context extends OperationContext>(options: GraphqlHandlerOptions<Context>) {
  const { schema, trustedDocuments, documentLimits: limits, hasCallers, hasTraces, redact, events } = options;
  const documents = createPreparedDocuments({ schema, limits, hasCallers });
  const registered = createPersistedQueries();
  const persistedQueries = trustedDocuments ? withTrustedQueries(registered, trustedDocuments) : registered;
  const replies = createReplies(options);
  const keptReplies = createKeptReplies(options.keptReplyBytes);
  // A kept reply must not outlive the trust in its document.
  trustedDocuments?.onReloaded(keptReplies.clear);
  const { answerPost, answer } = createAnswer({
    prepare: trustedDocuments ? withTrustedDocuments(documents.prepare, trustedDocuments, events) : documents.prepare,
    inTurn: documents.inTurn,
    countKnown: documents.countKnown,
    persistedQueries,
    keptReplies,
    createContext: options.createContext,
    replies,
    loadInlineTraces: hasTraces ? loadInlineTraces : null,
  });
  let inlineTraces: Promise<StartInlineTrace> | undefined;
  let yoga: Promise<GraphqlYoga> | undefined;

  return {
    answerPost,
    /** Answers any request. @param search of its URL */
    answerWithYoga: async (request: GraphqlPost, search: string, caller: Caller) =>
      (await loadYoga()).answer(request, search, caller),
    /** Answers any request without the HTTP request handler. */
    fetch: async (url: string, init: RequestInit) => (await loadYoga()).fetch(url, init),
    caches: () => ({ replies: keptReplies.status(), documents: documents.status() }),
    /** The data behind kept replies has changed. */
    clearReplies: keptReplies.clear,
  };

  /** Most clients never need it, and loading it takes 40 ms. */
  function loadYoga(): Promise<GraphqlYoga> {
    yoga ??= import('./yoga.ts').then(({ createGraphqlYoga }) =>
      createGraphqlYoga({ answer, persistedQueries, replies, localCaller: options.localCaller }),
    );
    return yoga;
  }

  function loadInlineTraces(): Promise<StartInlineTrace> {
    inlineTraces ??= import('./inline-trace.ts').then(({ createInlineTraces }) =>
      // A traced field takes about four times as long.
      createInlineTraces({ schema, redact, maxCost: limits.cost / 4 }),
    );
    return inlineTraces;
  }
}
