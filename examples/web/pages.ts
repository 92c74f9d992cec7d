import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { generateDocuments } from './generate.ts';

const configFile = fileURLToPath(new URL('vite.config.ts', import.meta.url));

/** Builds the pages into this folder, from documents that fit the schema as it is now. */
export async function buildPages(outDir: string): Promise<void> {
  await generateDocuments();
  await build({ configFile, build: { outDir }, logLevel: 'warn' });
}

interface ServePagesOptions {
  /** What `buildPages` wrote to. */
  outDir: string;
  /** Where the gateway listens: the pages ask it at /graphql, as if it were their own. */
  gatewayUrl: string;
  /** 0: any free port. */
  port?: number;
}

export interface ServedPages {
  /** Without a slash at its end. */
  url: string;
  close(): Promise<void>;
}

/**
 * The pages and the gateway at one origin, as a reverse proxy has them in production: no CORS, no preflights. Vite's own
 * preview server ends the process when it is told to stop, before the gateway has finished.
 */
export async function servePages({ outDir, gatewayUrl, port = 0 }: ServePagesOptions): Promise<ServedPages> {
  const files = await readFiles(outDir);
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (path === '/graphql') return forward(request, response, gatewayUrl);
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

/** By the path in their URLs. There are a handful. */
async function readFiles(folder: string): Promise<Map<string, { path: string; body: Buffer }>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = paths.map(async (path) => {
    const name = path.slice(folder.length).split(sep).join('/');
    return [name, { path, body: await readFile(path) }] as const;
  });
  return new Map(await Promise.all(files));
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** To the gateway and back; whoever hangs up here has hung up there. */
function forward(request: IncomingMessage, response: ServerResponse, gatewayUrl: string): void {
  const { method, headers, url = '' } = request;
  const onward = send(new URL(url, gatewayUrl), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  });
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}
