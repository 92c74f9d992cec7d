import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { generateDocuments } from './generate.ts';

const configFile = fileURLToPath(new URL('vite.config.ts', import.meta.url));

/** Builds the pages into a folder, with types generated from the current schema. */
export async function buildPages(outDir: string): Promise<void> {
  await generateDocuments();
  await build({ configFile, build: { outDir }, logLevel: 'warn' });
}

interface ServePagesOptions {
  /** Output folder of `buildPages`. */
  outDir: string;
  /** Origin of the gateway, to which /graphql and /check are forwarded. */
  gatewayUrl: string;
  /** Whether the gateway's essays come from the offline drafter, which the pages state. */
  isDrafter?: boolean;
  /** 0 means any free port. */
  port?: number;
}

export interface ServedPages {
  /** Without a trailing slash. */
  url: string;
  close(): Promise<void>;
}

/**
 * Serves the pages and the gateway at one origin, like a reverse proxy in production, so that no CORS is needed. Vite's
 * preview server is not used because it exits on SIGTERM before the gateway has finished.
 */
export async function servePages({
  outDir,
  gatewayUrl,
  isDrafter = false,
  port = 0,
}: ServePagesOptions): Promise<ServedPages> {
  const files = await readFiles(outDir, isDrafter);
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (path === '/graphql' || path === '/check') return forward(request, response, gatewayUrl);
    const file = files.get(path === '/' ? '/index.html' : path);
    if (!file) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': contentTypes[extname(file.path)] ?? 'application/octet-stream' });
    response.end(file.body);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The built files by URL path. */
async function readFiles(folder: string, isDrafter: boolean): Promise<Map<string, { path: string; body: Buffer }>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = paths.map(async (path) => {
    const name = path.slice(folder.length).split(sep).join('/');
    const body = await readFile(path);
    return [name, { path, body: isDrafter && name.endsWith('.html') ? nameDrafter(body) : body }] as const;
  });
  return new Map(await Promise.all(files));
}

function nameDrafter(html: Buffer): Buffer {
  return Buffer.from(
    html.toString().replace('name="essay-writer" content=""', 'name="essay-writer" content="drafter"'),
  );
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Forwards a request to the gateway. If the client disconnects, the forwarded request is aborted. */
function forward(request: IncomingMessage, response: ServerResponse, gatewayUrl: string): void {
  const { method, headers, url = '' } = request;
  const forwarded = send(new URL(url, gatewayUrl), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  forwarded.on('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  });
  response.on('close', () => forwarded.destroy());
  request.pipe(forwarded);
}
