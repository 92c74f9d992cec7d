import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  // Longer than the idle time-outs of the usual load balancers (60 s), which otherwise reuse a connection as it closes.
  const server = createServer({ keepAliveTimeout: 65_000 }, listener);

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
      }),
  };
}

function toUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
