import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { type ExecutionResult, Kind, parse } from 'graphql';
import { createRouter } from '../../../examples/supergraph/router.ts';
import { postJson } from '../post-json.ts';

export interface Router {
  ask(query: string): Promise<ExecutionResult>;
  close(): Promise<void>;
}

/** Starts a router in this process. @param sdl of the supergraph, with the URLs of running subgraphs */
export type StartRouter = (sdl: string) => Promise<Router>;

export const routers: readonly (readonly [name: string, start: StartRouter])[] = [
  ['Hive Gateway', startHiveGateway],
  ['@apollo/gateway', (sdl) => startApolloGateway(sdl)],
];

/** By default, @apollo/gateway accepts any media type, so that it receives application/json. */
export const startApolloGatewayAccepting =
  (accept: string): StartRouter =>
  (sdl) =>
    startApolloGateway(sdl, accept);

async function startHiveGateway(sdl: string): Promise<Router> {
  const router = createRouter(sdl);
  return {
    ask: (query) => postJson('http://router/graphql', { query }, { fetch: router.fetch }),
    close: async () => router.dispose(),
  };
}

async function startApolloGateway(supergraphSdl: string, accept = '*/*'): Promise<Router> {
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const buildService = ({ url = '' }) =>
    new RemoteGraphQLDataSource({ url, willSendRequest: ({ request }) => request.http?.headers.set('accept', accept) });
  const gateway = new ApolloGateway({ supergraphSdl, logger, buildService });
  const { executor, schema } = await gateway.load();
  return {
    async ask(query) {
      const document = parse(query);
      const [operation] = document.definitions;
      if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('the query is not an operation');
      return executor({
        request: { query },
        document,
        operation,
        operationName: null,
        source: query,
        queryHash: query,
        context: {},
        schema,
        schemaHash: '' as never,
        cache: { get: async () => undefined, set: async () => {}, delete: async () => {} },
        metrics: {},
        logger,
        overallCachePolicy: undefined as never,
        requestIsBatched: false,
      });
    },
    close: () => gateway.stop(),
  };
}
