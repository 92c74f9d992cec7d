import { setMaxListeners } from 'node:events';
import { useAPQ } from '@graphql-yoga/plugin-apq';
import type { GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Signal } from '../async/signal.ts';
import type { RequestContext } from '../request-context.ts';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';
import type { ServerContext } from './context.ts';
import { createDocumentCache } from './document-cache.ts';
import { createPersistedQueries, hashQuery } from './persisted-queries.ts';
import { useCacheControl } from './plugins/use-cache-control.ts';
import { costHeader, useCost } from './plugins/use-cost.ts';
import { type DocumentLimits, useDocumentLimits } from './plugins/use-document-limits.ts';
import { traceHeader, useInlineTrace } from './plugins/use-inline-trace.ts';
import { usePresentedErrors } from './plugins/use-presented-errors.ts';

interface GraphqlYogaOptions<Context> {
  schema: GraphQLSchema;
  /** Creates the context of one request's resolvers. @param signal aborts when the client disconnects */
  createContext: (signal: Signal) => Context;
  documentLimits: DocumentLimits;
  /** Whether routers may request traces. */
  hasTraces: boolean;
  /** Whether requests may ask for `extensions.cost`. */
  exposesCost: boolean;
  redact: Redact;
  events: Events;
}

/** GraphQL over HTTP at /graphql. Body size, CORS and GraphiQL belong to the HTTP request handler. */
export function createGraphqlYoga<Context extends { requestContext: RequestContext }>({
  schema,
  createContext,
  documentLimits,
  hasTraces,
  exposesCost,
  redact,
  events,
}: GraphqlYogaOptions<Context>) {
  return createYoga<ServerContext, Context>({
    schema,
    context: ({ request }) => {
      // Every look-up of a request listens to this signal; Node.js reports more than ten listeners as a leak.
      setMaxListeners(0, request.signal);
      return createContext(request.signal);
    },
    plugins: [
      // An unknown hash is answered with 200: otherwise clients report a failure instead of sending the query.
      useAPQ({ store: createPersistedQueries(), hash: hashQuery, responseConfig: { forceStatusCodeOk: true } }),
      useDocumentLimits(documentLimits),
      exposesCost && useCost(),
      useCacheControl([...(exposesCost ? [costHeader] : []), ...(hasTraces ? [traceHeader] : [])]),
      // A traced field takes about four times as long.
      hasTraces && useInlineTrace({ redact, maxCost: documentLimits.cost / 4 }),
      usePresentedErrors({ redact, events }),
    ],
    cors: false,
    parserAndValidationCache: { documentCache: createDocumentCache(), errorCache: noCache },
    maskedErrors: false,
    maxRequestBodySize: false,
    multipart: false,
    graphiql: false,
    landingPage: false,
    logging: false,
  });
}

/** A cached error would keep the parser and the text in memory, and parsing again is fast. */
const noCache = { get: () => undefined, set: () => {} };
