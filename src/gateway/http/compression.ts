import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
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
export function compress(
  body: string | readonly Uint8Array[],
  encoding: Exclude<Encoding, 'identity'>,
): Promise<Buffer> {
  const compressor = encoding === 'gzip' ? createGzip() : createBrotliCompress({ params: brotliParams });
  return buffer(Readable.from(typeof body === 'string' ? [body] : body).pipe(compressor));
}

const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 4 };

/** Missing in the types of Negotiator 1: https://github.com/jshttp/negotiator#encodingavailableencodings-options */
interface NegotiatorV1 {
  encoding(available: readonly Encoding[], options: { preferred: readonly Encoding[] }): Encoding | undefined;
}
