import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import type { Signal } from '../../async/signal.ts';
import type { Caller } from '../../auth/caller.ts';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Redact } from '../../telemetry/redact.ts';
import type { Trace } from '../../trace.ts';
import type { Backpressure } from '../../upstream/backpressure.ts';
import { createPreparedDocuments } from '../documents/documents.ts';
import type { DocumentLimits } from '../documents/limits.ts';
import type { OperationContext } from '../documents/operation.ts';
import type { ServerContext } from '../schema/context.ts';
import { createDirectWay } from './answer.ts';
import { createKeptReplies } from './kept-replies.ts';
import { createPersistedQueries } from './persisted-queries.ts';
import { createReplies, traceHeader } from './reply.ts';
import { withTrustedDocuments, withTrustedQueries } from './trusted-queries.ts';
import type { GraphqlYoga } from './yoga.ts';

interface GraphqlHandlerOptions<Context> {
  schema: GraphQLSchema;
  createContext: (caller: Caller, signal: Signal, trace: Trace | null) => Context;
  /** Delays queries with many look-ups. */
  backpressure: Backpressure;
  /** Of requests that do not come from the HTTP request handler. */
  localCaller: Caller;
  /** Whether responses depend on the caller. */
  hasCallers: boolean;
  trustedDocuments: TrustedDocuments | null;
  documentLimits: DocumentLimits;
  /** Memory for kept replies. */
  keptReplyBytes: number;
  /** Whether routers may request traces. */
  hasTraces: boolean;
  exposesCost: boolean;
  redact: Redact;
  events: Pick<Events, 'unexpectedError' | 'untrustedDocument'>;
}

/** GraphQL over HTTP, two ways in: directly for ordinary requests, and Yoga for all others. */
export function createGraphqlHandler<Context extends OperationContext>({
  schema,
  createContext,
  backpressure,
  localCaller,
  hasCallers,
  trustedDocuments,
  documentLimits,
  keptReplyBytes,
  hasTraces,
  exposesCost,
  redact,
  events,
}: GraphqlHandlerOptions<Context>) {
  const documents = createPreparedDocuments({ schema, limits: documentLimits, hasCallers });
  const prepare = trustedDocuments
    ? withTrustedDocuments(documents.prepare, trustedDocuments, events)
    : documents.prepare;
  const registered = createPersistedQueries();
  const persistedQueries = trustedDocuments ? withTrustedQueries(registered, trustedDocuments) : registered;
  const replies = createReplies({ hasCallers, exposesCost, hasTraces, redact, events });
  const shared = { prepare, persistedQueries, replies, createContext, backpressure };
  const keptReplies = createKeptReplies(keptReplyBytes);
  // A document may no longer be trusted.
  trustedDocuments?.onReloaded(keptReplies.clear);
  const answerDirectly = createDirectWay({
    ...shared,
    inTurn: documents.inTurn,
    countKnown: documents.countKnown,
    keptReplies,
    needsYoga: (headers) => hasTraces && headers[traceHeader] !== undefined,
  });
  let yoga: Promise<GraphqlYoga> | undefined;

  return {
    answerDirectly,
    caches: () => ({ replies: keptReplies.status(), documents: documents.status() }),
    /** Answers any request. */
    fetch: async (url: string, init: RequestInit) => (await loadYoga()).fetch(url, init),
    answerWithYoga: async (request: IncomingMessage, response: ServerResponse, context: ServerContext) =>
      (await loadYoga()).handleNodeRequestAndResponse(request, response, context),
    /** The data behind kept replies has changed. */
    clearReplies: keptReplies.clear,
    async dispose() {
      await (await yoga)?.dispose();
    },
  };

  /** Most clients never need it, and loading it takes 40 ms. */
  function loadYoga(): Promise<GraphqlYoga> {
    // A traced field takes about four times as long.
    const tracing = hasTraces ? { redact, maxCost: documentLimits.cost / 4 } : null;
    yoga ??= import('./yoga.ts').then(({ createGraphqlYoga }) =>
      createGraphqlYoga({ schema, ...shared, localCaller, tracing }),
    );
    return yoga;
  }
}
