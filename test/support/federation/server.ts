import type { GraphQLSchema } from 'graphql';
import { createTimeSlices } from '../../../src/base/async/time-slices.ts';
import { createRedact } from '../../../src/base/redact.ts';
import { createGraphqlHandler } from '../../../src/gateway/graphql/request/graphql-handler.ts';
import { createRequestContext, type RequestContext } from '../../../src/gateway/request-context.ts';
import type { Events } from '../../../src/gateway/telemetry/events.ts';
import { tCaller } from '../caller.ts';
import { tFetch } from '../gateway/graphql/local-fetch.ts';
import type { Answer } from '../gateway.ts';
import { postJson } from '../post-json.ts';

interface TServerOptions<Context> {
  schema: GraphQLSchema;
  createContext: (context: RequestContext) => Context;
  secrets?: readonly string[];
}

/** Any schema on the gateway's own GraphQL server. @returns a function that sends a query to it */
export function tServer<Context extends { requestContext: RequestContext }>(options: TServerOptions<Context>) {
  const { fetch } = createTServer(options);
  return (query: string, variables: object = {}, headers: Record<string, string> = {}) =>
    postJson<Answer & { extensions?: { ftv1?: string } }>(
      'http://subgraph/graphql',
      { query, variables },
      { headers, fetch },
    );
}

/** The same, as a handler of requests. */
export function createTServer<Context extends { requestContext: RequestContext }>({
  schema,
  createContext,
  secrets = [],
}: TServerOptions<Context>) {
  const redact = createRedact(secrets);
  const { answer } = createGraphqlHandler({
    schema,
    createContext: (caller, signal) => ({ ...createContext(createRequestContext(signal)), caller, slices: null }),
    hasCallers: false,
    trustedDocuments: null,
    maxQueryCost: 100_000,
    keptReplyBytes: 1_000_000,
    maxReplyBytes: 8_000_000,
    inTimeSlice: createTimeSlices(4),
    extensions: ['cost', 'traces'],
    redact,
    events: { unexpectedError: () => {} } as Partial<Events> as Events,
  });
  return { fetch: tFetch(answer, tCaller) };
}
