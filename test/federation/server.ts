import type { GraphQLSchema } from 'graphql';
import { onTestFinished } from 'vitest';
import { type Caller, createCaller } from '../../src/caller.ts';
import { createGraphqlServer } from '../../src/graphql/graphql-server.ts';
import type { Events } from '../../src/telemetry/events.ts';
import { createRedact } from '../../src/telemetry/redact.ts';
import type { Answer } from '../gateway.ts';

interface TServerOptions<Context> {
  schema: GraphQLSchema;
  createContext: (caller: Caller) => Context;
  secrets?: readonly string[];
}

/** Any schema behind the gateway's own GraphQL server. */
export function tServer<Context extends { caller: Caller }>({
  schema,
  createContext,
  secrets = [],
}: TServerOptions<Context>) {
  const server = createGraphqlServer({
    schema,
    createContext: (signal) => createContext(createCaller(signal)),
    maxQueryTokens: 5_000,
    redact: createRedact(secrets),
    events: { unexpectedError: () => {} } as Partial<Events> as Events,
  });
  onTestFinished(() => server.dispose());
  return async (query: string, variables: object = {}, headers: Record<string, string> = {}) => {
    const response = await server.fetch('http://subgraph/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as Answer & { extensions?: { ftv1?: string } };
  };
}
