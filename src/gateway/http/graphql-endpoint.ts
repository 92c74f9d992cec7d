import type { InTimeSlice } from '../../base/async/time-slices.ts';
import { findJsonProblem, maxUncheckedLength } from '../../base/parse-json.ts';
import type { Access } from '../callers/access.ts';
import type { Caller } from '../callers/caller.ts';
import type { AnswerGraphql } from '../graphql/request/params.ts';
import { type Reply, varyOfAll } from '../graphql/request/reply.ts';
import { defaultBodyBytes, readBodyOrRefuse } from './body.ts';
import { chooseEncoding, compress } from './compression.ts';
import type { Cors } from './cors.ts';
import { type StreamLimits, sendStream } from './event-stream.ts';
import type { Exchange } from './exchange.ts';
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
}

/** Answers GraphQL requests. Their bodies are read only if their headers are valid. */
export function createGraphqlEndpoint(options: GraphqlEndpointOptions) {
  const { access, graphql, maxBodyBytes = defaultBodyBytes, buffered, cors, inTimeSlice } = options;
  const streamLimits = { ...options.streamLimits, buffered };

  return async (exchange: Exchange): Promise<void> => {
    if (!validateRequest(exchange, cors)) return;
    const isPost = exchange.method === 'POST';
    const body = isPost ? await readBodyOrRefuse(exchange, { maxBytes: maxBodyBytes, buffered }) : noBody;
    if (body === null) return;
    // Nothing of a request is parsed before its caller is known.
    const caller = exchange.caller ?? (await admitSigned(exchange, isPost ? body : exchange.search));
    if (caller === null) return;
    const isLongBody = body.length > maxUncheckedLength;
    await (isLongBody ? inTimeSlice(() => answer(exchange, caller, body)) : answer(exchange, caller, body));
  };

  async function admitSigned(exchange: Exchange, content: Buffer | string): Promise<Caller | null> {
    return exchange.admit(await access.identifySignedAndCount(exchange.request.rawHeaders, content));
  }

  async function answer(exchange: Exchange, caller: Caller, body: Buffer): Promise<void> {
    const text = body.toString();
    // RFC 8259, 8.1: a byte order mark may be ignored.
    exchange.body = text.startsWith('\ufeff') ? text.slice(1) : text;
    const problem = text.length > maxUncheckedLength ? findJsonProblem(text) : null;
    if (problem !== null) return exchange.sendError(400, 'BAD_USER_INPUT', problem);
    return sendReply(exchange, await graphql.answer(exchange, caller), streamLimits);
  }
}

const noBody = Buffer.alloc(0);

/**
 * Sends a reply, compressed if it is large enough. It may repeat the client's input but contains no secret, so its compressed length
 * reveals nothing (BREACH).
 */
async function sendReply(exchange: Exchange, reply: Reply, streamLimits: StreamLimits): Promise<void> {
  const { status, body, record, stream } = reply;
  exchange.reply = record;
  if (stream) return sendStream(exchange, stream, headersOf(reply), streamLimits);
  const isSmall = typeof body === 'string' && Buffer.byteLength(body) < minBytes;
  const encoding = isSmall ? 'identity' : chooseEncoding(exchange.request, encodings);
  if (encoding === 'identity') return exchange.send(status, headersOf(reply), body);
  const headers = [...headersOf(reply), 'content-encoding', encoding];
  exchange.send(status, headers, await compress(body, encoding));
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
