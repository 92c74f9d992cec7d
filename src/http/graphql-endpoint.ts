import type { InTimeSlice } from '../async/time-slices.ts';
import type { Caller } from '../auth/caller.ts';
import type { AnswerPost, GraphqlPost } from '../graphql/request/answer.ts';
import { type Reply, varyOfAll } from '../graphql/request/reply.ts';
import { findJsonProblem, maxUncheckedLength, parseJson } from '../parse-json.ts';
import { type Body, type ByteBudget, readBody } from './body.ts';
import { chooseEncoding, compress, type Encoding } from './compression.ts';
import type { Cors } from './cors.ts';
import { type StreamLimits, sendStream } from './event-stream.ts';
import type { Exchange, MaybePromise } from './exchange.ts';
import { validateRequest } from './request-validation.ts';

export interface GraphqlEndpointOptions {
  streamLimits: Omit<StreamLimits, 'budget'>;
  graphql: {
    answerPost: AnswerPost;
    /** Answers the requests that are not ordinary. @param search of the URL */
    answerWithYoga: (request: GraphqlPost, search: string, caller: Caller) => Promise<Reply>;
  };
  /** Maximum size of a request body, in bytes. */
  maxBodyBytes: number;
  /** Holds the bodies that are being read, and what is not read of streams. */
  budget: ByteBudget;
  cors: Cors;
  /** For large bodies, whose JSON may take 15 ms to parse. */
  inTimeSlice: InTimeSlice;
  /** Finds the caller of a request and continues, or refuses the request. */
  identifyByParams: (
    exchange: Exchange,
    readParams: () => object,
    next: (caller: Caller) => MaybePromise<void>,
  ) => MaybePromise<void>;
  /** Runs a later part of handling a request; a fault is logged and answered. */
  catchFaults: (exchange: Exchange, run: () => MaybePromise<void>) => void;
}

/** Answers GraphQL requests. Their bodies are read only if their headers are valid. */
export function createGraphqlEndpoint(options: GraphqlEndpointOptions) {
  const { graphql, maxBodyBytes, budget, cors, inTimeSlice, identifyByParams, catchFaults } = options;
  const bodyLimits = { maxBytes: maxBodyBytes, budget };
  const sendReply = createSendReply({ ...options.streamLimits, budget });

  return (exchange: Exchange, search: string): MaybePromise<void> => {
    if (!validateRequest(exchange, search, cors)) return;
    if (exchange.request.method !== 'POST') {
      const readParams = () => parseSearch(search);
      return identifyByParams(exchange, readParams, (caller) => answerWithYoga(exchange, search, caller));
    }
    readBody(exchange, bodyLimits, (body) =>
      catchFaults(exchange, () =>
        body.length > maxUncheckedLength ? inTimeSlice(() => handleBody(exchange, body)) : handleBody(exchange, body),
      ),
    );
  };

  function handleBody(exchange: Exchange, body: Body): MaybePromise<void> {
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
    const text = body.toString();
    // RFC 8259, 8.1: a byte order mark may be ignored.
    exchange.body = text.startsWith('\ufeff') ? text.slice(1) : text;
    const problem = text.length > maxUncheckedLength ? findJsonProblem(text) : null;
    if (problem !== null) return exchange.sendError(400, 'BAD_USER_INPUT', problem);
    const readParams = () => parseObject(exchange.body);
    return identifyByParams(exchange, readParams, (caller) => answer(exchange, caller));
  }

  /** An ordinary request is answered without a promise if nothing has to be waited for. */
  function answer(exchange: Exchange, caller: Caller): MaybePromise<void> {
    const reply = graphql.answerPost(exchange, caller);
    if (reply === null) return answerWithYoga(exchange, '', caller);
    return reply instanceof Promise ? reply.then((reply) => sendReply(exchange, reply)) : sendReply(exchange, reply);
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

/**
 * Sends GraphQL replies, compressed if they are large enough. They may repeat the client's input but contain no secret, so
 * their compressed length reveals nothing (BREACH).
 */
function createSendReply(streamLimits: StreamLimits): (exchange: Exchange, reply: Reply) => MaybePromise<void> {
  /** Compressed bodies by reply: a kept reply is sent again. */
  const compressed = new WeakMap<Reply, Map<Encoding, Promise<Uint8Array>>>();

  return (exchange, reply) => {
    const { status, body, bodyEncoding } = reply;
    exchange.reply = reply.record;
    if (reply.stream) return sendStream(exchange, reply.stream, headersOf(reply), streamLimits);
    // A character has at most three bytes.
    const isSmall = body.length * 3 < minBytes || Buffer.byteLength(body, bodyEncoding) < minBytes;
    const encoding = isSmall ? 'identity' : chooseEncoding(exchange.request, encodings);
    if (encoding === 'identity') return exchange.send(status, headersOf(reply), body, bodyEncoding);
    const bytes = compressed.get(reply)?.get(encoding) ?? startCompressing(reply, encoding);
    const headers = [...headersOf(reply), 'content-encoding', encoding];
    return bytes.then((bytes) => exchange.send(status, headers, bytes));
  };

  function startCompressing(reply: Reply, encoding: Encoding): Promise<Uint8Array> {
    const bytes = compress(Buffer.from(reply.body, reply.bodyEncoding), encoding);
    const known = compressed.get(reply) ?? new Map<Encoding, Promise<Uint8Array>>();
    compressed.set(reply, known.set(encoding, bytes));
    return bytes;
  }
}

/** Smaller responses fit into one packet anyway. */
const minBytes = 1_000;

/** A response of 8.6 kB becomes 900 bytes in 0.08 ms with gzip, 820 bytes in 0.36 ms with Brotli. */
const encodings = ['gzip', 'br', 'identity'] as const;

function headersOf({ headers, mediaType, stream }: Reply): string[] {
  const flat = ['content-type', stream?.format.contentType ?? `${mediaType}; charset=utf-8`];
  for (const name in headers) flat.push(name, headers[name] ?? '');
  // Yoga's own replies have none.
  if (headers.vary === undefined) flat.push('vary', varyOfAll);
  return flat;
}
