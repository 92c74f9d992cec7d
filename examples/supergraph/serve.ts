import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Served {
  /** URL of the GraphQL endpoint. */
  url: string;
  close(): Promise<void>;
}

/** Serves GraphQL on a local port; 0 means any free port. */
export async function serve(listener: RequestListener, port = 0): Promise<Served> {
  const server = createServer(listener).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actualPort}/graphql`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
