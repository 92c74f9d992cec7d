import { expect, onTestFinished } from 'vitest';
import { createTimeSlices } from '../../../../src/base/async/time-slices.ts';
import { readConfig } from '../../../../src/gateway/config/read-config.ts';
import { createGraphiql } from '../../../../src/gateway/http/graphiql.ts';
import { createRequestHandler } from '../../../../src/gateway/http/request-handler.ts';
import { createHttpServer } from '../../../../src/gateway/http/server.ts';
import { tAccess } from '../callers.ts';

type Options = Parameters<typeof createRequestHandler>[0];

/** A request handler that listens, without GraphQL unless it is given. @returns its origin */
export async function tRequestHandler(options: Partial<Options> = {}): Promise<string> {
  const listener = createRequestHandler({
    access: tAccess,
    isGraphiqlOpen: true,
    graphql: { answer: () => Promise.reject(new Error('not asked')) },
    graphiql: createGraphiql({ clientTimeoutMs: 20_000 }),
    maxBodyBytes: 1_000,
    maxBufferedBytes: 30_000_000,
    streamLimits: { clientTimeoutMs: 20_000, heartbeatMs: 15_000 },
    inTimeSlice: createTimeSlices(4),
    corsOrigins: [],
    allowedHosts: [],
    findUnreadiness: () => null,
    readiness: () => ({}),
    events: {
      unexpectedError: (error) => expect.unreachable(String(error)),
      requestFinished: () => {},
      preflightRefused: () => {},
    },
    ...options,
  });
  const server = createHttpServer(listener, readConfig({}).connections);
  onTestFinished(() => server.drain(0));
  return server.listen('127.0.0.1', 0);
}

/** Serves GraphQL on a free port; every caller may use everything. Pages of https://shop.example may call. */
export function tGraphqlServer(graphql: Options['graphql']): Promise<string> {
  const { maxBufferedBytes } = readConfig({});
  const corsOrigins = ['https://shop.example'];
  return tRequestHandler({ graphql, maxBodyBytes: 1_000_000, maxBufferedBytes, corsOrigins });
}
