import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface HttpServer {
  /** @returns the address as a URL without a path */
  listen(host: string, port: number): Promise<string>;
  /** Refuses new connections and waits for active requests; aborts them after the timeout, in milliseconds. */
  drain(timeoutMs: number): Promise<void>;
}

export function createHttpServer(listener: RequestListener): HttpServer {
  const active = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  // Longer than the idle timeouts of common load balancers (60 s), which would otherwise reuse a closing connection.
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    active.add(response);
    response.once('close', () => active.delete(response));
    // A keep-alive connection that was sending a response when draining began may deliver another request.
    if (!server.listening) closeConnectionAfter(response);
    listener(request, response);
  });

  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

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
