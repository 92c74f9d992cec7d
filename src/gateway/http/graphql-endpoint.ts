import type { InTimeSlice } from '../../base/async/time-slices.ts';
import { findJsonProblem, maxUncheckedLength } from '../../base/parse-json.ts';
import type { Access } from '../callers/access.ts';
import type { Caller } from '../callers/caller.ts';
import type { AnswerGraphql } from '../graphql/request/params.ts';
import { type Reply, varyOfAll } from '../graphql/request/reply.ts';
import { defaultBodyBytes, receiveBodyOrRefuse } from './body.ts';
import { type StreamLimits, sendStream } from './event-stream.ts';
import { chooseEncoding, compress, type Exchange } from './exchange.ts';
import type { Cors } from './request-validation.ts';
import { validateRequest } from './request-validation.ts';
import type { Shares } from './shares.ts';

export interface GraphqlEndpointOptions {
  access: Pick<Access, 'identifySignedAndCount'>;
  graphql: { answer: AnswerGraphql };
  /** Maximum size of a body, in bytes. */
  maxBodyBytes?: number;
  /** Counts the bodies that are being read, and what is not read of streams. */
  buffered: Shares;
  cors: Cors;
  streamLimits: Omit<StreamLimits, 'buffered'>;
  /** For long bodies, whose JSON may take 15 ms to parse. */
  inTimeSlice: InTimeSlice;
  /** Reports a fault of the gateway, and answers with it. */
  onFault(exchange: Exchange, error: unknown): void;
}

/**
 * Answers GraphQL requests. Their bodies are read only if their headers are valid. A promise only where something is awaited: most
 * requests wait for their look-ups only, and many for nothing.
 */
export function createGraphqlEndpoint(options: GraphqlEndpointOptions) {
  const { access, graphql, maxBodyBytes = defaultBodyBytes, buffered, cors, inTimeSlice, onFault } = options;
  const streamLimits = { ...options.streamLimits, buffered };

  return (exchange: Exchange): void | Promise<void> => {
    if (!validateRequest(exchange, cors)) return;
    if (exchange.method === 'GET') return begin(exchange, noBody, exchange.search);
    receiveBodyOrRefuse(exchange, { maxBytes: maxBodyBytes, buffered }, (body) => {
      if (body !== null) reportFault(exchange, () => begin(exchange, body, body));
    });
  };

  /** Nothing of a request is parsed before its caller is known. @param signed what the signature of a router is of */
  function begin(exchange: Exchange, body: Buffer, signed: Buffer | string): void | Promise<void> {
    if (exchange.caller !== null) return answerInSlice(exchange, exchange.caller, body);
    return admitSigned(exchange, body, signed);
  }

  async function admitSigned(exchange: Exchange, body: Buffer, signed: Buffer | string): Promise<void> {
    const caller = exchange.admit(await access.identifySignedAndCount(exchange.request.rawHeaders, signed));
    if (caller !== null) await answerInSlice(exchange, caller, body);
  }

  function answerInSlice(exchange: Exchange, caller: Caller, body: Buffer): void | Promise<void> {
    const isLong = body.length > maxUncheckedLength;
    return isLong ? inTimeSlice(() => answer(exchange, caller, body)) : answer(exchange, caller, body);
  }

  function answer(exchange: Exchange, caller: Caller, body: Buffer): void | Promise<void> {
    const text = body.toString();
    // RFC 8259, 8.1: a byte order mark may be ignored.
    exchange.body = text.startsWith('\ufeff') ? text.slice(1) : text;
    const problem = text.length > maxUncheckedLength ? findJsonProblem(text) : null;
    if (problem !== null) return exchange.sendError(400, 'BAD_USER_INPUT', problem);
    const reply = graphql.answer(exchange, caller);
    if (reply instanceof Promise) return reply.then((reply) => sendReply(exchange, reply, streamLimits));
    return sendReply(exchange, reply, streamLimits);
  }

  function reportFault(exchange: Exchange, handle: () => void | Promise<void>): void {
    try {
      handle()?.catch((error: unknown) => onFault(exchange, error));
    } catch (error) {
      onFault(exchange, error);
    }
  }
}

const noBody = Buffer.alloc(0);

/**
 * Sends a reply, compressed if it is large enough. It may repeat the client's input but contains no secret, so its compressed length
 * reveals nothing (BREACH).
 */
function sendReply(exchange: Exchange, reply: Reply, streamLimits: StreamLimits): void | Promise<void> {
  const { status, body, record, stream } = reply;
  exchange.reply = record;
  if (stream) return sendStream(exchange, stream, headersOf(reply), streamLimits);
  const isSmall = typeof body === 'string' && Buffer.byteLength(body) < minBytes;
  const encoding = isSmall ? 'identity' : chooseEncoding(exchange.request, encodings);
  if (encoding === 'identity') return exchange.send(status, headersOf(reply), body);
  const headers = [...headersOf(reply), 'content-encoding', encoding];
  return compress(body, encoding).then((compressed) => exchange.send(status, headers, compressed));
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
