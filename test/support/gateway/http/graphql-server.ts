import { onTestFinished } from 'vitest';
import { createTimeSlices } from '../../../../src/base/async/time-slices.ts';
import { readConfig } from '../../../../src/gateway/config/read-config.ts';
import type { GraphqlEndpointOptions } from '../../../../src/gateway/http/graphql-endpoint.ts';
import { createRequestHandler } from '../../../../src/gateway/http/request-handler.ts';
import { createHttpServer } from '../../../../src/gateway/http/server.ts';
import { tAccess } from '../../caller.ts';

/** Serves GraphQL on a free port; every caller may use everything. Pages of https://shop.example may call. */
export async function tGraphqlServer(graphql: GraphqlEndpointOptions['graphql']): Promise<string> {
  const { maxBufferedBytes, connections } = readConfig({});
  const listener = createRequestHandler({
    access: tAccess,
    isGraphiqlOpen: false,
    graphql,
    graphiql: () => Promise.reject(new Error('not served')),
    maxBufferedBytes,
    streamLimits: { clientTimeoutMs: connections.clientTimeoutMs, heartbeatMs: 15_000 },
    inTimeSlice: createTimeSlices(4),
    corsOrigins: ['https://shop.example'],
    allowedHosts: [],
    findUnreadiness: () => null,
    readiness: () => ({}),
    events: { unexpectedError: () => {}, requestFinished: () => {}, preflightRefused: () => {} },
  });
  const server = createHttpServer(listener, connections);
  onTestFinished(() => server.drain(0));
  return server.listen('127.0.0.1', 0);
}
