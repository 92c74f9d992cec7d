import type { GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Signal } from '../async/signal.ts';
import type { Caller } from '../auth/caller.ts';
import type { TrustedDocuments } from '../documents/trusted-documents.ts';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';
import { createDirectWay } from './direct-way.ts';
import type { DocumentLimits } from './document-problem.ts';
import { createKeptReplies } from './kept-replies.ts';
import { createPersistedQueries } from './persisted-queries.ts';
import { createPrepareDocument } from './prepared-document.ts';
import type { OperationContext } from './prepared-operation.ts';
import { createReplies, traceHeader } from './reply.ts';
import { withTrustedDocuments, withTrustedQueries } from './trusted-queries.ts';
import { createGraphqlYoga } from './yoga.ts';

interface GraphqlHandlerOptions<Context> {
  schema: GraphQLSchema;
  createContext: (caller: Caller, signal: Signal) => Context;
  /** Of requests that do not come from the HTTP request handler. */
  localCaller: Caller;
  /** Whether responses depend on the caller. */
  hasCallers: boolean;
  trustedDocuments: TrustedDocuments | null;
  documentLimits: DocumentLimits;
  /** Memory for kept replies. */
  keptReplyBytes: number;
  /** Traces for routers; null: they cannot request any. */
  tracing: Plugin | null;
  exposesCost: boolean;
  redact: Redact;
  events: Pick<Events, 'unexpectedError' | 'untrustedDocument'>;
}

/** GraphQL over HTTP, two ways in: directly for ordinary requests, and Yoga for all others. */
export function createGraphqlHandler<Context extends OperationContext>({
  schema,
  createContext,
  localCaller,
  hasCallers,
  trustedDocuments,
  documentLimits,
  keptReplyBytes,
  tracing,
  exposesCost,
  redact,
  events,
}: GraphqlHandlerOptions<Context>) {
  const prepareAny = createPrepareDocument({ schema, limits: documentLimits, hasCallers });
  const prepare = trustedDocuments ? withTrustedDocuments(prepareAny, trustedDocuments, events) : prepareAny;
  const registered = createPersistedQueries();
  const persistedQueries = trustedDocuments ? withTrustedQueries(registered, trustedDocuments) : registered;
  const replies = createReplies({ hasCallers, exposesCost, hasTraces: tracing !== null, redact, events });
  const shared = { prepare, persistedQueries, replies, createContext };
  const yoga = createGraphqlYoga({ schema, ...shared, localCaller, plugins: tracing ? [tracing] : [] });
  const keptReplies = createKeptReplies(keptReplyBytes);
  // A document may no longer be trusted.
  trustedDocuments?.onReloaded(keptReplies.clear);
  const answerDirectly = createDirectWay({
    ...shared,
    keptReplies,
    needsYoga: (headers) => tracing !== null && headers[traceHeader] !== undefined,
  });
  return { yoga, answerDirectly };
}
