import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { chooseEncoding, type Encoding } from './compression.ts';

export interface GraphiqlPage {
  /** Weak: the same for all encodings. */
  etag: string;
  contentSecurityPolicy: string;
  /** The path of the file with the page in this encoding. */
  file(encoding: Encoding): string;
}

/**
 * The GraphiQL page. It contains its scripts, styles and workers, so it works without internet access. It is 9 MB large,
 * so `npm run build` renders and compresses it (`scripts/build-graphiql.ts`), and it is served from disk.
 */
export function createGraphiql(): () => Promise<GraphiqlPage> {
  return async () => {
    const { etag, scriptHash } = JSON.parse(await readFile(`${folder}page.json`, 'utf8')) as BuiltPage;
    return { etag, contentSecurityPolicy: createPolicy(scriptHash), file: (encoding) => folder + fileNames[encoding] };
  };
}

/** In the build, this code is in a file of `dist`. */
const folder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/graphiql/' : 'graphiql/', import.meta.url),
);

export const fileNames: Readonly<Record<Encoding, string>> = {
  br: 'page.html.br',
  gzip: 'page.html.gz',
  identity: 'page.html',
};

/** The content of `page.json`. */
export interface BuiltPage {
  etag: string;
  /** SHA-256 of the page's only script, in base64. */
  scriptHash: string;
}

/** Sends the page, or 304 if the browser has it. */
export async function sendPage(request: IncomingMessage, response: ServerResponse, page: GraphiqlPage): Promise<void> {
  const headers = {
    etag: page.etag,
    'cache-control': 'no-cache',
    'content-security-policy': page.contentSecurityPolicy,
    // The URL can hold a query with IBANs.
    'referrer-policy': 'no-referrer',
    // A page that opens GraphiQL with a mutation cannot move its window under a double click.
    'cross-origin-opener-policy': 'same-origin',
  };
  response.appendHeader('vary', 'accept, accept-encoding');
  const cached = request.headers['if-none-match']?.split(',').map((tag) => tag.trim()) ?? [];
  if (cached.includes(page.etag) || cached.includes('*')) {
    response.writeHead(304, headers).end();
    return;
  }
  const encoding = chooseEncoding(request, ['br', 'gzip', 'identity']);
  const file = page.file(encoding);
  const { size } = await stat(file);
  if (encoding !== 'identity') response.setHeader('content-encoding', encoding);
  response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8', 'content-length': size });
  if (request.method === 'HEAD') response.end();
  else await pipeline(createReadStream(file), response);
}

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
