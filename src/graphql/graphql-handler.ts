import type { GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Signal } from '../async/signal.ts';
import type { RequestContext } from '../request-context.ts';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';
import { createDirectWay } from './direct-way.ts';
import type { DocumentLimits } from './document-problem.ts';
import { createKeptReplies } from './kept-replies.ts';
import { createPersistedQueries } from './persisted-queries.ts';
import { createPrepareDocument } from './prepared-document.ts';
import { createReplies, traceHeader } from './reply.ts';
import { createGraphqlYoga } from './yoga.ts';

interface GraphqlHandlerOptions<Context> {
  schema: GraphQLSchema;
  createContext: (signal: Signal) => Context;
  documentLimits: DocumentLimits;
  /** Memory for kept replies. */
  keptReplyBytes: number;
  /** Traces for routers; null: they cannot request any. */
  tracing: Plugin | null;
  exposesCost: boolean;
  redact: Redact;
  events: Pick<Events, 'unexpectedError'>;
}

/** GraphQL over HTTP, two ways in: directly for ordinary requests, and Yoga for all others. */
export function createGraphqlHandler<Context extends { requestContext: RequestContext }>({
  schema,
  createContext,
  documentLimits,
  keptReplyBytes,
  tracing,
  exposesCost,
  redact,
  events,
}: GraphqlHandlerOptions<Context>) {
  const prepare = createPrepareDocument({ schema, limits: documentLimits });
  const persistedQueries = createPersistedQueries();
  const replies = createReplies({ exposesCost, hasTraces: tracing !== null, redact, events });
  const shared = { prepare, persistedQueries, replies, createContext };
  const yoga = createGraphqlYoga({ schema, ...shared, plugins: tracing ? [tracing] : [] });
  const answerDirectly = createDirectWay({
    ...shared,
    keptReplies: createKeptReplies(keptReplyBytes),
    needsYoga: (headers) => tracing !== null && headers[traceHeader] !== undefined,
  });
  return { yoga, answerDirectly };
}
