import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { type ExecutionResult, Kind, parse } from 'graphql';
import { onTestFinished } from 'vitest';
import { composeSupergraph } from '../../../examples/supergraph/compose.ts';
import { createPayments } from '../../../examples/supergraph/payments.ts';
import { createRouter } from '../../../examples/supergraph/router.ts';
import { serve } from '../../../examples/supergraph/serve.ts';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { tGateway } from '../gateway.ts';
import { postJson } from '../loopback.ts';
import { type Reply, replyJson, tUpstream, type Upstream } from '../scripted-upstream.ts';

interface TSupergraph {
  /** Contains the URLs of both running subgraphs. */
  sdl: string;
  /** The gateway's GraphQL endpoint. */
  ledgerquillUrl: string;
  /** The gateway's bank-data service, and its essay service. */
  upstream: Upstream;
  /** The statuses that the gateway has sent to the router, from its log. */
  statuses(): number[];
}

/** The example's supergraph with running subgraphs, and a scripted service for bank data and essays; all stop with the test. */
export async function tSupergraph(reply: Reply = replyWithBank, env: Environment = {}): Promise<TSupergraph> {
  const upstream = await tUpstream(reply);
  const gateway = tGateway({ bankDataUrl: upstream.url, essaysUrl: upstream.url, env });
  const payments = await serve(createPayments());
  onTestFinished(() => payments.close());
  const ledgerquillUrl = `${await gateway.listen()}/graphql`;
  const sdl = composeSupergraph({ payments: payments.url, ledgerquill: ledgerquillUrl });
  const statuses = () =>
    [...gateway.log().matchAll(/"route":"\/graphql","status":(\d+)/g)].map(([, status]) => Number(status));
  return { sdl, ledgerquillUrl, upstream, statuses };
}

/** A bank whose name contains the requested bank code. */
export const replyWithBank: Reply = (response, call) => {
  const iban = call.query.get('iban_number') ?? '';
  return replyJson(200, { valid: true, bank_data: { name: `Bank ${iban.slice(4, 12)}` } })(response, call);
};

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
