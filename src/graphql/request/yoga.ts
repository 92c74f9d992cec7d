import { setMaxListeners } from 'node:events';
import { useAPQ } from '@graphql-yoga/plugin-apq';
import type { GraphQLSchema } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { Signal } from '../../async/signal.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Trace } from '../../trace.ts';
import type { Backpressure } from '../../upstream/backpressure.ts';
import type { PrepareDocument } from '../documents/documents.ts';
import type { OperationContext } from '../documents/operation.ts';
import type { ServerContext } from '../schema/context.ts';
import { hashQuery, type PersistedQueries } from './persisted-queries.ts';
import type { Replies } from './reply.ts';
import type { InlineTraceOptions } from './use-inline-trace.ts';
import { usePreparedOperations } from './use-prepared-operations.ts';

interface GraphqlYogaOptions<Context> {
  schema: GraphQLSchema;
  prepare: PrepareDocument;
  persistedQueries: PersistedQueries;
  replies: Replies;
  /** Delays queries with many look-ups. */
  backpressure: Backpressure;
  /** Creates the context of one request's resolvers. @param signal aborts when the client disconnects */
  createContext: (caller: Caller, signal: Signal, trace: Trace | null) => Context;
  /** Of requests that do not come from the HTTP request handler. */
  localCaller: Caller;
  /** Traces for routers; null: they cannot request any. */
  tracing: InlineTraceOptions | null;
}

/** The part of Yoga that is used. */
export type GraphqlYoga = Pick<
  YogaServerInstance<ServerContext, object>,
  'fetch' | 'handleNodeRequestAndResponse' | 'dispose'
>;

/** GraphQL over HTTP at /graphql. Body size, CORS and GraphiQL belong to the HTTP request handler. */
export async function createGraphqlYoga<Context extends OperationContext>({
  schema,
  prepare,
  persistedQueries,
  replies,
  backpressure,
  createContext,
  localCaller,
  tracing,
}: GraphqlYogaOptions<Context>): Promise<GraphqlYoga> {
  return createYoga<ServerContext, Context>({
    schema,
    context: ({ request, caller = localCaller, trace = null }) => {
      // Every look-up of a request listens to this signal; Node.js reports more than ten listeners as a leak.
      setMaxListeners(0, request.signal);
      return createContext(caller, request.signal, trace);
    },
    plugins: [
      // An unknown hash is answered with 200: otherwise clients report a failure instead of sending the query.
      useAPQ({ store: persistedQueries, hash: hashQuery, responseConfig: { forceStatusCodeOk: true } }),
      usePreparedOperations({ prepare, replies, backpressure, localCaller }),
      ...(tracing ? [(await import('./use-inline-trace.ts')).useInlineTrace(tracing)] : []),
    ],
    cors: false,
    // Documents are prepared once for both ways.
    parserAndValidationCache: false,
    maskedErrors: false,
    maxRequestBodySize: false,
    multipart: false,
    graphiql: false,
    landingPage: false,
    logging: false,
  });
}
