import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { withPipelineLimit } from './pipelining.ts';

export interface HttpServer {
  /** @returns the address as a URL without a path */
  listen(host: string, port: number): Promise<string>;
  /** Refuses new connections and waits for active requests; aborts them after the timeout, in milliseconds. */
  drain(timeoutMs: number): Promise<void>;
}

interface HttpServerOptions {
  /** Beyond it, the connection is closed that has waited longest for a request, or else the new one. */
  maxConnections: number;
  /** Limit for pipelined requests. */
  maxRequestsPerConnection: number;
  /** How long a client may take to send a request, and how long it may read nothing of a response, in milliseconds. */
  clientTimeoutMs: number;
}

export function createHttpServer(
  listener: RequestListener,
  { maxConnections, maxRequestsPerConnection, clientTimeoutMs }: HttpServerOptions,
): HttpServer {
  const active = new Set<ServerResponse>();
  /** The least recently used first. */
  const sockets = new Set<Socket>();
  const options = {
    // Longer than the idle timeouts of common load balancers (60 s), which would otherwise reuse a closing connection.
    keepAliveTimeout: 65_000,
    headersTimeout: clientTimeoutMs,
    requestTimeout: clientTimeoutMs,
    connectionsCheckingInterval: Math.min(clientTimeoutMs, 1_000),
  };
  const handleRequest: RequestListener = (request, response) => {
    active.add(response);
    response.once('close', () => active.delete(response));
    sockets.delete(request.socket);
    sockets.add(request.socket);
    // Executing may take longer than reading; `prefinish` means that the whole response was passed on to the socket,
    // `pipe` that a file is.
    const limitReading = () => response.setTimeout(clientTimeoutMs);
    response.setTimeout(0).once('prefinish', limitReading).once('pipe', limitReading);
    // A keep-alive connection that was sending a response when draining began may deliver another request.
    if (!server.listening) closeConnectionAfter(response);
    listener(request, response);
  };
  const server = createServer(options, withPipelineLimit(handleRequest, maxRequestsPerConnection));

  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (sockets.size > maxConnections) findLeastUsed()?.destroy();
  });

  /** The new connection itself if requests of all others are being executed. */
  function findLeastUsed(): Socket | undefined {
    const executing = [...active].filter(({ req, headersSent }) => req.complete && !headersSent);
    const busy = new Set(executing.map(({ socket }) => socket));
    return [...sockets].find((socket) => !busy.has(socket));
  }

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve(toUrl(server.address() as AddressInfo));
        });
      }),
    drain: (timeoutMs) =>
      new Promise((resolve) => {
        if (!server.listening) return resolve();
        const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        for (const response of active) closeConnectionAfter(response);
        // Node.js closes idle connections, but not those that have not received a complete request yet.
        const busy = new Set([...active].map(({ socket }) => socket));
        for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
      }),
  };
}

/** Otherwise `drain` would wait for the idle keep-alive connection. */
function closeConnectionAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

function toUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
