import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { useAPQ } from '@graphql-yoga/plugin-apq';
import type { ExecutionResult } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Caller } from '../../auth/caller.ts';
import type { GraphqlRequest } from './graphql-handler.ts';
import { hashQuery, type Params, type PersistedQueries, withDocumentId } from './params.ts';
import { chooseMediaType, type Replies, type Reply } from './reply.ts';
import { chooseStreamFormat, streamText } from './stream-formats.ts';

interface GraphqlYogaOptions {
  answer: (params: Params, request: GraphqlRequest, caller: Caller) => Promise<Reply>;
  persistedQueries: PersistedQueries;
  replies: Replies;
  /** The caller of requests without the HTTP request handler. */
  localCaller: Caller;
}

/** Yoga's context of a request. */
interface ServerContext {
  pending: { request: GraphqlRequest; caller: Caller; reply: Reply | null };
}

export type GraphqlYoga = ReturnType<typeof createGraphqlYoga>;

/**
 * Yoga reads the requests that are not ordinary: GET, queries to be persisted, and what is not a GraphQL request. It hands
 * their parameters to `answer`. Body size, CORS and GraphiQL belong to the HTTP request handler.
 */
export function createGraphqlYoga({ answer, persistedQueries, replies, localCaller }: GraphqlYogaOptions) {
  const yoga = createYoga<ServerContext>({
    plugins: [
      useKnownParams(),
      // With application/json, an unknown hash is answered with 200: clients of this media type may report another status as a
      // failure, instead of sending the query.
      useAPQ({ store: persistedQueries, hash: hashQuery, responseConfig: { forceStatusCodeOk: true } }),
      useAnswer({ answer, replies }),
    ],
    cors: false,
    parserAndValidationCache: false,
    maskedErrors: false,
    maxRequestBodySize: false,
    multipart: false,
    graphiql: false,
    landingPage: false,
    logging: false,
  });

  return {
    /** Answers a request that the HTTP request handler has received. */
    async answer(request: GraphqlRequest, caller: Caller): Promise<Reply> {
      const { method, search, mediaType } = request;
      const pending = { request, caller, reply: null as Reply | null };
      const body = method === 'POST' ? { body: request.body } : {};
      const headers = { accept: mediaType, 'content-type': 'application/json' };
      await yoga.fetch(`http://gateway/graphql?${search}`, { method, headers, ...body }, { pending });
      if (pending.reply === null) throw new Error('Yoga sent a response of its own.');
      return pending.reply;
    },
    /** Answers a request without the HTTP request handler, for tests and for embedding. */
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const fetched = new Request(url, init);
      const { method, signal } = fetched;
      // Every look-up of a request listens to this signal; Node.js reports more than ten listeners as a leak.
      setMaxListeners(0, signal);
      const headers = Object.fromEntries(fetched.headers);
      const accepted = chooseMediaType(headers.accept);
      const mediaType = accepted ?? 'application/json';
      const isStreamOnly = accepted === null && chooseStreamFormat(headers.accept) !== null;
      const unknown = { search: '', body: '', requestId: undefined, trace: null };
      const request = { ...unknown, method, headers, mediaType, signal, isStreamOnly };
      return yoga.fetch(fetched, { pending: { request, caller: localCaller, reply: null } });
    },
  };
}

/**
 * Ignores unknown parameters, which Yoga would refuse (GraphQL over HTTP, September 2026, "JSON Encoding"), and reads
 * `documentId`, which Yoga does not read from a URL.
 */
function useKnownParams(): Plugin {
  return {
    onParams({ params, request, setParams }) {
      // Yoga refuses other values.
      if (typeof params !== 'object' || params === null || Array.isArray(params)) return;
      const { query, operationName, variables } = params;
      const { searchParams } = new URL(request.url);
      const documentId = request.method === 'GET' ? searchParams.get('documentId') : Reflect.get(params, 'documentId');
      const extensions = withDocumentId({ ...params, documentId });
      setParams({ query, operationName, variables, extensions } as typeof params);
    },
  };
}

/** Lets `answer` execute what Yoga has read, and sends its reply. */
function useAnswer({ answer, replies }: Pick<GraphqlYogaOptions, 'answer' | 'replies'>): Plugin<object, ServerContext> {
  return {
    onParams({ context: { pending }, setParamsHandler }) {
      setParamsHandler(async ({ params }) => {
        pending.reply = await answer(params as Params, pending.request, pending.caller);
        return {};
      });
    },
    onResultProcess({ serverContext: { pending }, setResultProcessor }) {
      const { request, caller } = pending;
      setResultProcessor((result, { Response }) => {
        // Without a reply, the result has errors of Yoga in reading the request.
        pending.reply ??= replies.create(result as ExecutionResult, request, caller, null);
        const { status, headers, body, stream } = pending.reply;
        const type = stream?.format.contentType ?? `${request.mediaType}; charset=utf-8`;
        const content = stream ? Readable.toWeb(Readable.from(streamText(stream), { objectMode: false })) : body;
        return new Response(content as BodyInit, { status, headers: { ...headers, 'content-type': type } });
      }, request.mediaType);
    },
  };
}
