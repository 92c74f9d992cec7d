import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

export type Encoding = 'br' | 'gzip' | 'identity';

/** The encoding that the client prefers; of equally preferred ones, the first of `encodings`. */
export function chooseEncoding(request: IncomingMessage, encodings: readonly Encoding[]): Encoding {
  if (request.headers['accept-encoding'] === undefined) return 'identity';
  const negotiator = new Negotiator(request) as Negotiator & NegotiatorV1;
  // A client that accepts none of them gets an uncompressed response (RFC 9110, 12.5.3).
  return negotiator.encoding(encodings, { preferred: encodings }) ?? 'identity';
}

/** Compresses the parts of a response to one request: the highest quality of Brotli would take too long. */
export async function compress(
  parts: readonly Uint8Array[],
  encoding: Exclude<Encoding, 'identity'>,
): Promise<Uint8Array> {
  const size = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: size };
  const [only, ...others] = parts;
  if (only && others.length === 0)
    return encoding === 'gzip' ? promisify(gzip)(only) : promisify(brotliCompress)(only, { params });
  // Joining the parts would block for as long as writing them.
  return buffer(Readable.from(parts).pipe(encoding === 'gzip' ? createGzip() : createBrotliCompress({ params })));
}

/** Missing in the types of Negotiator 1: https://github.com/jshttp/negotiator#encodingavailableencodings-options */
interface NegotiatorV1 {
  encoding(available: readonly Encoding[], options: { preferred: readonly Encoding[] }): Encoding | undefined;
}
