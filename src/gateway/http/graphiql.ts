import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { builtFile } from '../../base/process/package-files.ts';
import { clientClosedRequest } from '../graphql/request/reply.ts';
import { chooseEncoding, type Encoding, type Exchange } from './exchange.ts';

/**
 * Sends the GraphiQL page, or 304 if the browser has it. It contains its scripts, styles and workers, so it works without
 * internet access. It is 9 MB large, so `npm run build` renders and compresses it (`scripts/build-graphiql.ts`), and it is
 * served from disk. The few clients that accept no compression receive it decompressed, which takes 80 ms of CPU time, half
 * of it in a thread of zlib.
 * @param clientTimeoutMs how long a client may read nothing of it
 */
export function createGraphiql({ clientTimeoutMs }: { clientTimeoutMs: number }): SendGraphiql {
  return async (exchange) => {
    const { etag, scriptHash, length } = JSON.parse(await readFile(`${folder}page.json`, 'utf8')) as BuiltPage;
    const headers = [
      ...['etag', etag, 'cache-control', 'no-cache', 'vary', 'accept, accept-encoding'],
      ...['content-security-policy', createPolicy(scriptHash)],
      // The URL can hold a query with IBANs.
      ...['referrer-policy', 'no-referrer'],
      // A page that opens GraphiQL with a mutation cannot move its window under a double click.
      ...['cross-origin-opener-policy', 'same-origin'],
    ];
    const cached = exchange.headers['if-none-match']?.split(',').map((tag) => tag.trim()) ?? [];
    if (cached.includes(etag) || cached.includes('*')) return exchange.send(304, headers);
    const encoding = chooseEncoding(exchange.request, ['br', 'gzip', 'identity']);
    if (encoding !== 'identity') headers.push('content-encoding', encoding);
    const { request, response, responseHeaders } = exchange;
    const file = await open(folder + fileNames[encoding === 'identity' ? 'gzip' : encoding]);
    try {
      const sentLength = encoding === 'identity' ? length : (await file.stat()).size;
      headers.push('content-type', 'text/html; charset=utf-8', 'content-length', String(sentLength));
      response.setTimeout(clientTimeoutMs).writeHead(200, [...responseHeaders, ...headers]);
      if (request.method !== 'HEAD') await writeFile(file, encoding === 'identity', response);
      response.end();
      exchange.finish(response.destroyed ? clientClosedRequest : 200);
    } finally {
      await file.close();
    }
  };
}

export type SendGraphiql = (exchange: Exchange) => Promise<void>;

const folder = fileURLToPath(builtFile('graphiql/'));

export const fileNames: Readonly<Record<Exclude<Encoding, 'identity'>, string>> = {
  br: 'page.html.br',
  gzip: 'page.html.gz',
};

/** The content of `page.json`. */
export interface BuiltPage {
  /** Weak: the same for all encodings. */
  etag: string;
  /** SHA-256 of the page's only script, in base64. */
  scriptHash: string;
  /** Its length without compression, in bytes. */
  length: number;
}

/** Until the client disconnects. */
async function writeFile(file: FileHandle, isDecompressed: boolean, response: ServerResponse): Promise<void> {
  const parts = [file.createReadStream({ autoClose: false }), ...(isDecompressed ? [createGunzip({ chunkSize })] : [])];
  try {
    await pipeline([...parts, response], { end: false });
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

/** Size of a chunk in bytes. The default, 16 kB, takes a fifth more CPU time. */
const chunkSize = 65_536;

/** Allows the page's own script, the workers that it creates, and calls of this gateway. Framed, a click could pay. */
function createPolicy(scriptHash: string): string {
  return [
    "default-src 'none'",
    `script-src 'sha256-${scriptHash}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    'worker-src blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
