import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import type { GraphQLSchema } from 'graphql';
import { createTimeSlices } from '../../../../src/base/async/time-slices.ts';
import { createRedact } from '../../../../src/base/redact.ts';
import type { Caller } from '../../../../src/gateway/callers/caller.ts';
import { createGraphqlHandler } from '../../../../src/gateway/graphql/request/graphql-handler.ts';
import type { AnswerGraphql } from '../../../../src/gateway/graphql/request/params.ts';
import { chooseMediaType } from '../../../../src/gateway/graphql/request/reply.ts';
import type { ResultStream } from '../../../../src/gateway/graphql/request/stream-formats.ts';
import { createRequestContext, type RequestContext } from '../../../../src/gateway/request-context.ts';
import type { Events } from '../../../../src/gateway/telemetry/events.ts';
import type { Answer } from '../../gateway.ts';
import { postJson } from '../../loopback.ts';
import { tCaller } from '../callers.ts';

/** Answers requests of a caller without the HTTP request handler. */
export function tFetch(answer: AnswerGraphql, caller: Caller) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const fetched = new Request(url, init);
    const { method, signal } = fetched;
    // Every look-up of a request listens to this signal; Node.js reports more than ten listeners as a leak.
    setMaxListeners(0, signal);
    const headers = Object.fromEntries(fetched.headers);
    const mediaType = chooseMediaType(headers.accept);
    const reply = await answer(
      {
        method,
        search: new URL(url).search.slice(1),
        body: await fetched.text(),
        headers,
        mediaType: mediaType ?? 'application/json',
        isStreamOnly: mediaType === null,
        requestId: randomUUID(),
        signal,
        trace: null,
        confirmCaller: async () => true,
      },
      caller,
    );
    signal.throwIfAborted();
    const { status, stream } = reply;
    const body = typeof reply.body === 'string' ? reply.body : Buffer.concat(reply.body);
    const type = stream?.format.contentType ?? `${reply.mediaType}; charset=utf-8`;
    const content = stream ? Readable.toWeb(Readable.from(streamText(stream), { objectMode: false })) : body;
    return new Response(content as BodyInit, { status, headers: { ...reply.headers, 'content-type': type } });
  };
}

/** The whole text of a stream, in pieces, without heartbeats. */
async function* streamText({ format, results }: ResultStream): AsyncGenerator<string> {
  yield format.begin;
  for await (const json of results) yield format.result(json);
  yield format.end;
}

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
