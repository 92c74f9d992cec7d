import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** An HTTP server on a free loopback port, closed with all its connections when the test ends. */
export async function tHttpServer(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${await listen(server)}` };
}

/** @returns the URL of a TCP server on a free loopback port, closed when the test ends */
export async function tTcpServer(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createNetServer(onConnection);
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listen(server)}`;
}

/** A port of the loopback interface where nothing listens. */
export async function tFreePort(): Promise<number> {
  const server = createNetServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
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
async function listen(server: NetServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
