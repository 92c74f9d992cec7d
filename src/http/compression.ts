import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

export type Encoding = 'br' | 'gzip' | 'identity';

/** The encoding that the client prefers; of equally preferred ones, the first of `encodings`. */
export function chooseEncoding(request: IncomingMessage, encodings: readonly Encoding[]): Encoding {
  if (request.headers['accept-encoding'] === undefined) return 'identity';
  const negotiator = new Negotiator(request) as Negotiator & NegotiatorV1;
  // A client that accepts none of them gets an uncompressed response (RFC 9110, 12.5.3).
  return negotiator.encoding(encodings, { preferred: encodings }) ?? 'identity';
}

/** Compresses a response to one request: the highest quality of Brotli would take too long. */
export async function compress(body: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  if (encoding === 'identity') return body;
  if (encoding === 'gzip') return promisify(gzip)(body);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength };
  return promisify(brotliCompress)(body, { params });
}

/** Missing in the types of Negotiator 1: https://github.com/jshttp/negotiator#encodingavailableencodings-options */
interface NegotiatorV1 {
  encoding(available: readonly Encoding[], options: { preferred: readonly Encoding[] }): Encoding | undefined;
}
