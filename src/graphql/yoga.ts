import { useAPQ } from '@graphql-yoga/plugin-apq';
import type { GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { RequestContext } from '../request-context.ts';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';
import type { ServerContext } from './context.ts';
import { createDocumentCache } from './document-cache.ts';
import { createPersistedQueries, hashQuery } from './persisted-queries.ts';
import { useCacheControl } from './plugins/use-cache-control.ts';
import { useCost } from './plugins/use-cost.ts';
import { useDocumentLimits } from './plugins/use-document-limits.ts';
import { useInlineTrace } from './plugins/use-inline-trace.ts';
import { usePresentedErrors } from './plugins/use-presented-errors.ts';

interface GraphqlServerOptions<Context> {
  schema: GraphQLSchema;
  /** What the resolvers of one request work with. @param signal fires when the client hangs up */
  createContext: (signal: AbortSignal) => Context;
  maxQueryTokens: number;
  redact: Redact;
  events: Events;
}

/** GraphQL over HTTP at /graphql. Size, caller, CORS and GraphiQL are the door's business; errors are shown by one plugin. */
export function createGraphqlYoga<Context extends { requestContext: RequestContext }>({
  schema,
  createContext,
  maxQueryTokens,
  redact,
  events,
}: GraphqlServerOptions<Context>) {
  return createYoga<ServerContext, Context>({
    schema,
    context: ({ request }) => createContext(request.signal),
    plugins: [
      // Clients take any other status for a failure of the server, and do not send the query after its hash.
      useAPQ({ store: createPersistedQueries(), hash: hashQuery, responseConfig: { forceStatusCodeOk: true } }),
      useDocumentLimits({ maxTokens: maxQueryTokens }),
      useCost(),
      useCacheControl(),
      useInlineTrace({ redact }),
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

/** What is no document is soon parsed again, and its error holds on to the parser and the text. */
const noCache = { get: () => undefined, set: () => {} };
