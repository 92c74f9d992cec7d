import { buildConnector, Client } from 'undici';

/** `complete`: undici has received the whole response, and it is the one to the call. */
export type CallProgress = 'unsent' | 'sent' | 'complete';

interface ConnectionsOptions {
  origin: string;
  /** Largest number of calls in flight. */
  maxCalls: number;
  /** Whether a connection is used for more than one call. */
  isKept: boolean;
  connect?: buildConnector.connector;
}

/**
 * Connections to a service, one for each call in flight: the queue limits the calls, and so the connections. Each is an
 * undici client, which connects when it is used, and again if its connection was closed while it was idle.
 */
export function createConnections({ origin, maxCalls, isKept, connect = createConnector() }: ConnectionsOptions) {
  const all = new Set<Client>();
  let free: Client[] = [];
  /** Those that still connect for a call that has been given up; the oldest first. */
  const connecting = new Set<Client>();
  let isClosed = false;

  return {
    /** The most recently used free connection, so that idle ones close when there are few calls; or a new one. */
    take: () => free.pop() ?? takeConnecting() ?? open(),
    /**
     * Only a connection whose call is complete, or not sent yet, can be used again. Otherwise, a late response could be taken for
     * the answer to another call; and after an abort undici connects again at once, so the next call could wait for that. A call
     * may release its connection before undici has finished with it: undici then queues the next call.
     */
    release(connection: Client, progress: CallProgress): void {
      if (progress === 'complete') free.push(connection);
      else if (progress === 'sent' || !all.has(connection)) discard(connection);
      else if (connection.stats.connected) offerUnused(connection);
      else connecting.add(connection);
    },
    /** Closes all; calls in flight fail. */
    async close(): Promise<void> {
      isClosed = true;
      await Promise.all([...all].map((connection) => connection.destroy()));
    },
  };

  function open(): Client {
    // The deadline bounds the whole call, so undici's timeouts for headers and body are off.
    const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
    // With `pipelining: 0` undici closes the connection after each call, and connects again for the next one.
    const connection = new Client(origin, { connect, pipelining: isKept ? 1 : 0, ...timeouts });
    if (isClosed) void connection.destroy();
    else all.add(connection);
    connection.on('connect', () => {
      if (connecting.delete(connection)) offerUnused(connection);
    });
    // A client that could not connect may wait forever: https://github.com/nodejs/undici/issues/3895
    connection.on('connectionError', () => discard(connection));
    return connection;
  }

  /** Only if there are too many: an attempt to connect may take 10 s, and it cannot be cancelled. */
  function takeConnecting(): Client | null {
    const [oldest] = connecting;
    if (all.size < 2 * maxCalls || oldest === undefined) return null;
    connecting.delete(oldest);
    return oldest;
  }

  /** Keeps a connection whose call was given up for the next call, unless each call needs a new connection. */
  function offerUnused(connection: Client): void {
    if (isKept) free.push(connection);
    else discard(connection);
  }

  function discard(connection: Client): void {
    all.delete(connection);
    connecting.delete(connection);
    if (free.includes(connection)) free = free.filter((other) => other !== connection);
    void connection.destroy();
  }
}

/**
 * A server may send `100 Continue` before any response (RFC 9110, 15.2), but undici then closes the connection. It accepts
 * `102 Processing`, so the status is replaced in the heads before each final response.
 */
function createConnector(): buildConnector.connector {
  const connect = buildConnector({});
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error || !socket) return callback(error ?? new Error('no connection'), null);
      const read = socket.read.bind(socket);
      let answeredBytes = -1;
      socket.read = (size) => {
        const chunk: Buffer | null = read(size);
        // Nothing was sent since the last final head: it is a part of a body.
        if (chunk === null || socket.bytesWritten === answeredBytes) return chunk;
        let start = 0;
        while (/^HTTP\/1\.[01] 1/.test(chunk.toString('latin1', start, start + 10))) {
          if (chunk.toString('latin1', start + 9, start + 12) === '100') chunk.write('102', start + 9);
          const end = chunk.indexOf('\r\n\r\n', start);
          if (end === -1) return chunk;
          start = end + 4;
        }
        if (start < chunk.length) answeredBytes = socket.bytesWritten;
        return chunk;
      };
      callback(null, socket);
    });
}
