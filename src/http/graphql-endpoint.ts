import type { Caller } from '../auth/caller.ts';
import type { AnswerPost, GraphqlPost } from '../graphql/request/answer.ts';
import type { Reply } from '../graphql/request/reply.ts';
import { parseJson } from '../parse-json.ts';
import type { Admit } from './admit.ts';
import { type Body, readBody } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Cors } from './cors.ts';
import type { Exchange, MaybePromise } from './exchange.ts';
import { validateRequest } from './request-validation.ts';
import { createSendReply } from './send-reply.ts';

export interface GraphqlEndpointOptions {
  graphql: {
    answerPost: AnswerPost;
    /** Answers the requests that are not ordinary. @param search of the URL */
    answerWithYoga: (request: GraphqlPost, search: string, caller: Caller) => Promise<Reply>;
  };
  /** Maximum size of a request body, in bytes. */
  maxBodyBytes: number;
  /** Holds the bodies that are being read. */
  budget: ByteBudget;
  admit: Admit;
  cors: Cors;
  /** Runs a later part of handling a request; a fault is logged and answered. */
  guard: (exchange: Exchange, run: () => MaybePromise<void>) => void;
}

/** Answers GraphQL requests whose headers were admitted. */
export function createGraphqlEndpoint(options: GraphqlEndpointOptions) {
  const { graphql, maxBodyBytes, budget, admit, cors, guard } = options;
  const bodyLimits = { maxBytes: maxBodyBytes, budget };
  const sendReply = createSendReply();

  return (exchange: Exchange, search: string): MaybePromise<void> => {
    if (!validateRequest(exchange, search, cors)) return;
    if (exchange.request.method !== 'POST') {
      const readParams = () => parseSearch(search);
      return admit.byParams(exchange, readParams, (caller) => answerWithYoga(exchange, search, caller));
    }
    readBody(exchange, bodyLimits, (body) => guard(exchange, () => answerPost(exchange, body)));
  };

  function answerPost(exchange: Exchange, body: Body): MaybePromise<void> {
    if (body === 'too-large') {
      const message = `The request body must have at most ${maxBodyBytes} bytes.`;
      return exchange.sendError(413, 'BAD_USER_INPUT', message, closeConnection);
    }
    if (body === 'fragmented') {
      const message = 'The request body has too many small chunks; send larger ones, or a Content-Length.';
      return exchange.sendError(400, 'BAD_USER_INPUT', message, closeConnection);
    }
    if (body === 'evicted') {
      const message = 'The gateway is receiving more bytes than MAX_BUFFERED_BYTES; retry in a second.';
      return exchange.sendError(503, 'OVERLOADED', message, [...closeConnection, 'retry-after', '1']);
    }
    exchange.body = body.toString();
    const readParams = () => parseObject(exchange.body);
    return admit.byParams(exchange, readParams, (caller) => answer(exchange, caller));
  }

  /** An ordinary request is answered without a promise if nothing has to be waited for. */
  function answer(exchange: Exchange, caller: Caller): MaybePromise<void> {
    const reply = graphql.answerPost(exchange, caller);
    if (reply === null) return answerWithYoga(exchange, '', caller);
    return 'then' in reply ? reply.then((reply) => sendReply(exchange, reply)) : sendReply(exchange, reply);
  }

  async function answerWithYoga(exchange: Exchange, search: string, caller: Caller): Promise<void> {
    return sendReply(exchange, await graphql.answerWithYoga(exchange, search, caller));
  }
}

const closeConnection = ['connection', 'close'];

/** The parameters of a GET request. As in Yoga, the first one of a name counts: it is executed, so its signature is verified. */
function parseSearch(search: string): object {
  const params = new URLSearchParams(search);
  const [variables, extensions] = ['variables', 'extensions'].map((name) => parseObject(params.get(name) || '{}'));
  return { query: params.get('query'), variables, extensions };
}

/** Empty if the text is not JSON of an object. */
function parseObject(text: string): object {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null ? value : {};
}
