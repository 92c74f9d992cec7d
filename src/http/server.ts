import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface HttpServer {
  /** Opens the port. @returns the address as a URL without a path */
  listen(host: string, port: number): Promise<string>;
  /**
   * Stops accepting and waits until the running requests are answered, at most this many milliseconds; what still
   * runs then is cut off.
   */
  drain(timeoutMs: number): Promise<void>;
}

export function createHttpServer(listener: RequestListener): HttpServer {
  const running = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  // Longer than the idle time-outs of the usual load balancers (60 s), which otherwise reuse a connection as it closes.
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    running.add(response);
    response.once('close', () => running.delete(response));
    if (!server.listening) letGo(response);
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
        const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        for (const response of running) letGo(response);
        // Node closes idle connections itself, but not those on which no whole request has come yet.
        const busy = new Set([...running].map(({ socket }) => socket));
        for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
      }),
  };
}

/** Has the connection closed after this answer: a kept connection would hold the port open until it is idle for long. */
function letGo(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

function toUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
