import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

export type Encoding = 'br' | 'gzip' | 'identity';

/** The encoding that the client prefers; of equally preferred ones, the first of `encodings`. */
export function chooseEncoding(request: IncomingMessage, encodings: readonly Encoding[]): Encoding {
  const negotiator = new Negotiator(request) as Negotiator & NegotiatorV1;
  // A client that accepts none of them gets an uncompressed response (RFC 9110, 12.5.3).
  return negotiator.encoding(encodings, { preferred: encodings }) ?? 'identity';
}

/** @param brotliQuality from 0 to 11; higher is slower */
async function compress(body: Uint8Array, encoding: Encoding, brotliQuality: number): Promise<Uint8Array> {
  if (encoding === 'identity') return body;
  if (encoding === 'gzip') return promisify(gzip)(body);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
  };
  return promisify(brotliCompress)(body, { params });
}

/**
 * Sends a GraphQL response, compressed if it is large enough. It may repeat the client's input but contains no secret, so
 * its compressed length reveals nothing (BREACH).
 */
export async function sendReply(request: IncomingMessage, response: ServerResponse, reply: Response): Promise<void> {
  const content = Buffer.from(await reply.text());
  const encoding = content.byteLength < minBytes ? 'identity' : chooseEncoding(request, graphqlEncodings);
  const body = await compress(content, encoding, graphqlBrotliQuality);
  if (response.destroyed) return;
  response.appendHeader('vary', 'accept, accept-encoding');
  if (encoding !== 'identity') response.setHeader('content-encoding', encoding);
  for (const [name, value] of reply.headers) {
    if (name === 'vary') response.appendHeader(name, value);
    else response.setHeader(name, value);
  }
  response.writeHead(reply.status, { 'content-length': body.byteLength }).end(body);
}

/** Smaller responses fit into one packet anyway. */
const minBytes = 1_000;

/** A response of 8.6 kB becomes 900 bytes in 0.08 ms with gzip, 820 bytes in 0.36 ms with Brotli. */
const graphqlEncodings = ['gzip', 'br', 'identity'] as const;
const graphqlBrotliQuality = 4;

/** Missing in the types of Negotiator 1: https://github.com/jshttp/negotiator#encodingavailableencodings-options */
interface NegotiatorV1 {
  encoding(available: readonly Encoding[], options: { preferred: readonly Encoding[] }): Encoding | undefined;
}
