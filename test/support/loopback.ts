import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createNetServer,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import tls from 'node:tls';
import { generate } from 'selfsigned';
import { onTestFinished, vi } from 'vitest';

/** An HTTP server on a free loopback port, closed with all its connections when the test ends. */
export async function tHttpServer(
  listener: RequestListener,
  certificate: { cert: string; key: string } | null = null,
): Promise<{ server: Server; url: string }> {
  const server = certificate === null ? createServer(listener) : createHttpsServer(certificate, listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = await listen(server);
  return { server, url: certificate === null ? `http://127.0.0.1:${port}` : `https://localhost:${port}` };
}

/** @returns the URL of a TCP server on a free loopback port, closed when the test ends */
export async function tTcpServer(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createNetServer(onConnection);
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listen(server)}`;
}

/**
 * A port of the loopback interface where nothing listens. It is below those that Linux gives to servers of port 0 and to connections,
 * so none of these takes it later, also while a process of a test is replaced.
 */
export async function tFreePort(): Promise<number> {
  for (;;) {
    const server = createNetServer();
    const port = randomInt(10_000, 32_000);
    const isFree = await listen(server, port).then(Boolean, () => false);
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

/** Starts a server on a free port. Retries if another process took the port between finding and using it. */
export async function onFreePort<Server>(
  start: (port: number) => Promise<Server>,
): Promise<{ server: Server; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await tFreePort();
    try {
      return { server: await start(port), port };
    } catch (error) {
      if (attempt === 5 || !/address already in use/i.test(String(error))) throw error;
    }
  }
}

/** @returns the port, which is free before */
async function listen(server: NetServer, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

interface PostOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** In place of the network, such as a GraphQL handler without a port. */
  fetch?: (url: string, init: RequestInit) => Response | Promise<Response>;
}

/** Sends JSON, and reads the JSON of the response. */
export async function postJson<Answer>(
  url: string,
  body: object,
  { headers = {}, signal, fetch = globalThis.fetch }: PostOptions = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  return (await response.json()) as Answer;
}

/** A certificate for localhost that no authority has signed, and its key. */
export async function createCertificate(): Promise<{ cert: string; key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' });
  return { cert, key };
}

/** From now on until the test ends, clients of this process trust this certificate, too. */
export function trust({ cert }: { cert: string }): void {
  const { createSecureContext } = tls;
  vi.spyOn(tls, 'createSecureContext').mockImplementation((options) => createSecureContext({ ...options, ca: cert }));
}

/** A connection to a server on this machine, by its port or origin, on which the text was sent. */
export async function tConnection(server: number | string, text = ''): Promise<Socket> {
  const port = typeof server === 'number' ? server : Number(new URL(server).port);
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** What the server sends next, up to a pattern or until it closes the connection. */
export async function receive(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const data of socket.iterator({ destroyOnReturn: false })) {
    text += data;
    if (pattern.test(text)) break;
  }
  return text;
}

export async function readAll(socket: Socket): Promise<string> {
  return Buffer.concat(await socket.toArray()).toString();
}

export async function untilClosed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.resume().once('close', resolve));
}
