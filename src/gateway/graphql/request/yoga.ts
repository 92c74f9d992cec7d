import { useAPQ } from '@graphql-yoga/plugin-apq';
import type { ExecutionResult } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga';
import { isObject } from '../../../base/parse-json.ts';
import type { Caller } from '../../callers/caller.ts';
import { type GraphqlRequest, hashQuery, type Params, type PersistedQueries, withDocumentId } from './params.ts';
import type { Replies, Reply } from './reply.ts';

interface GraphqlYogaOptions {
  answer: (params: Params, request: GraphqlRequest, caller: Caller) => Reply | Promise<Reply>;
  persistedQueries: PersistedQueries;
  replies: Replies;
}

/** Yoga's context of a request. */
interface ServerContext {
  pending: { request: GraphqlRequest; caller: Caller; reply: Reply | Promise<Reply> | null };
}

/**
 * Yoga reads the requests that are not ordinary: GET, queries to be persisted, and what is not a GraphQL request. It hands
 * their parameters to `answer`. Body size, CORS and GraphiQL belong to the HTTP request handler.
 */
export function createGraphqlYoga({ answer, persistedQueries, replies }: GraphqlYogaOptions) {
  const yoga = createYoga<ServerContext>({
    plugins: [
      useAnswer({ answer, replies }),
      // With application/json, an unknown hash is answered with 200: clients of this media type may report another status as a
      // failure, instead of sending the query.
      useAPQ({ store: persistedQueries, hash: hashQuery, responseConfig: { forceStatusCodeOk: true } }),
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

  return async (request: GraphqlRequest, caller: Caller): Promise<Reply> => {
    const { search, mediaType } = request;
    // Yoga does not know QUERY, whose body is that of POST.
    const method = request.method === 'GET' ? 'GET' : 'POST';
    const pending = { request, caller, reply: null as ServerContext['pending']['reply'] };
    const body = method === 'POST' ? { body: request.body } : {};
    const headers = { accept: mediaType, 'content-type': 'application/json' };
    await yoga.fetch(`http://gateway/graphql?${search}`, { method, headers, ...body }, { pending });
    if (pending.reply === null) throw new Error('Yoga sent a response of its own.');
    return pending.reply;
  };
}

/**
 * Lets `answer` execute what Yoga has read. Ignores unknown parameters, which Yoga would refuse (GraphQL over HTTP, September
 * 2026, "JSON Encoding"), and reads `documentId`, which Yoga does not read from a URL.
 */
function useAnswer({ answer, replies }: Pick<GraphqlYogaOptions, 'answer' | 'replies'>): Plugin<object, ServerContext> {
  return {
    onParams({ params, request, setParams, context: { pending }, setParamsHandler }) {
      setParamsHandler(async ({ params }) => {
        pending.reply = await answer(params as Params, pending.request, pending.caller);
        return {};
      });
      // Yoga refuses other values.
      if (!isObject(params)) return;
      const { query, operationName, variables } = params;
      const { searchParams } = new URL(request.url);
      const documentId = request.method === 'GET' ? searchParams.get('documentId') : params.documentId;
      const extensions = withDocumentId({ ...params, documentId });
      setParams({ query, operationName, variables, extensions } as GraphQLParams);
    },
    onResultProcess({ serverContext: { pending }, setResultProcessor }) {
      const { request, caller } = pending;
      setResultProcessor((result, { Response }) => {
        // Without a reply, the result has errors of Yoga in reading the request.
        pending.reply ??= replies.create(result as ExecutionResult, request, caller, null);
        return new Response();
      }, request.mediaType);
    },
  };
}
