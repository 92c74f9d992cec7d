import { Client } from 'undici';
import { createConnector } from './connector.ts';

/**
 * Connections to a service, one for each call in flight. Whoever limits the calls also limits the connections, so a call
 * does not wait for one, and the next call can be sent as soon as the last one has its response.
 */
export interface Connections {
  /** A free connection, or a new one. It connects when it is used, and again after it was closed. */
  take(): Client;
  /** Makes it free for the next call. */
  release(connection: Client): void;
  /** Closes all; calls in flight fail. */
  close(): Promise<void>;
}

export function createConnections(origin: string): Connections {
  const connect = createConnector();
  const all: Client[] = [];
  let isClosed = false;
  /** The one that has been free for longest is first: it is not used again before undici has finished with it. */
  const free: Client[] = [];

  return {
    take: () => free.shift() ?? open(),
    release: (connection) => void free.push(connection),
    async close() {
      isClosed = true;
      await Promise.all(all.map((connection) => connection.destroy()));
    },
  };

  function open(): Client {
    // The deadline bounds the whole call, so undici's timeouts for headers and body are off.
    const connection = new Client(origin, { connect, headersTimeout: 0, bodyTimeout: 0 });
    all.push(connection);
    if (isClosed) void connection.destroy();
    return connection;
  }
}
