import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../auth/caller.ts';
import type { AnswerDirectly } from '../graphql/request/answer.ts';
import { ReplyRecord } from '../graphql/request/reply-record.ts';
import type { ServerContext } from '../graphql/schema/context.ts';
import { parseJson } from '../parse-json.ts';
import { hashBytes } from '../seeded-hash.ts';
import type { Admit } from './admit.ts';
import { type Body, readBody } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Cors } from './cors.ts';
import type { Exchange, MaybePromise } from './exchange.ts';
import { validateRequest } from './request-validation.ts';
import { createSendReply } from './send-reply.ts';

export interface GraphqlEndpointOptions {
  graphql: {
    answerDirectly: AnswerDirectly;
    /** Answers the requests that are not answered directly. */
    answerWithYoga: (request: IncomingMessage, response: ServerResponse, context: ServerContext) => Promise<Response>;
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
      return admit.byParams(exchange, readParams, (caller) => answerWithYoga(exchange, caller));
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
    exchange.bodyHash = hashBytes(body);
    const readParams = () => parseObject(exchange.body);
    return admit.byParams(exchange, readParams, (caller) => answer(exchange, caller, body));
  }

  /** An ordinary request is answered without a promise if nothing has to be waited for. */
  function answer(exchange: Exchange, caller: Caller, body: Buffer): MaybePromise<void> {
    const reply = graphql.answerDirectly(exchange, caller);
    if (reply === null) return answerWithYoga(exchange, caller, body);
    if (!('then' in reply)) return sendReply(exchange, reply);
    return reply.then((reply) =>
      reply === null ? answerWithYoga(exchange, caller, body) : sendReply(exchange, reply),
    );
  }

  async function answerWithYoga(exchange: Exchange, caller: Caller, body?: Buffer): Promise<void> {
    const { request, response, requestId, mediaType, trace } = exchange;
    // Yoga ignores quality values, and compares the type of the body case-sensitively.
    request.headers.accept = mediaType;
    if (body) {
      request.headers['content-type'] = request.headers['content-type']?.toLowerCase();
      Object.assign(request, { body: createBodyView(body) });
    }
    let record = new ReplyRecord(null);
    const onRecord = (created: ReplyRecord) => {
      record = created;
    };
    const answer = await graphql.answerWithYoga(request, response, { requestId, caller, trace, onRecord });
    const { 'content-type': _, 'content-length': _length, ...headers } = Object.fromEntries(answer.headers);
    const text = await answer.text();
    const reply = { status: answer.status, headers, mediaType, body: text, bodyEncoding: 'utf8', record } as const;
    return sendReply(exchange, reply);
  }
}

const closeConnection = ['connection', 'close'];

/** Yoga lists the keys of a body, and a Buffer has one per byte: 100 ms and 50 MB for 1 MB. */
function createBodyView({ buffer, byteOffset, byteLength }: Buffer) {
  return { buffer, byteOffset, byteLength, [Symbol.toStringTag]: 'Uint8Array' };
}

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
