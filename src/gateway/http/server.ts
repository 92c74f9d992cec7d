import { createServer, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { IncomingRequest } from './incoming-request.ts';
import { createShares, holderOf, type Share } from './shares.ts';

/** As the listener of a `node:http` server, with requests that pass on their bodies. */
export type HandleRequest = (request: IncomingRequest, response: ServerResponse<IncomingRequest>) => void;

interface HttpServerOptions {
  /** Beyond this number, a connection of the caller or address with most of them is closed, but never the new one. */
  maxConnections: number;
  /** Limit for pipelined requests that are being handled or wait; the next one closes the connection. */
  maxRequestsPerConnection?: number;
  /** How long a client may take to send a request, and how long it may read nothing of a response, in milliseconds. */
  clientTimeoutMs: number;
  /** Called for each connection that is closed because of a limit. */
  onRefused?: () => void;
}

export function createHttpServer(
  listener: HandleRequest,
  { maxConnections, maxRequestsPerConnection = 10, clientTimeoutMs, onRefused }: HttpServerOptions,
) {
  const connections = new Map<Socket, Connection>();
  const shares = createShares(maxConnections);
  let isClosing = false;
  const server = createServer({
    IncomingMessage: IncomingRequest,
    // Longer than the idle timeouts of common load balancers (60 s), which would otherwise reuse a closing connection.
    keepAliveTimeout: 65_000,
    headersTimeout: clientTimeoutMs,
    requestTimeout: clientTimeoutMs,
    connectionsCheckingInterval: Math.min(clientTimeoutMs, 1_000),
  });

  server.on('connection', (socket) => {
    const holder = holderOf(socket.remoteAddress);
    const rank = () => rankOf(connection);
    const share = shares.take({ holder, amount: 1, rank, onLost: () => refuse(socket) });
    const connection: Connection = { share, response: null, waiting: [] };
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      share.release();
    });
  });

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const response = connections.get(socket)?.response;
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && response?.req.isStreamed) return;
    // As Node.js does without a listener.
    if (socket.writable && !response?.headersSent) socket.write(describeClientError(error.code));
    socket.destroy(error);
  });
  server.on('request', enqueue);
  // The client waits for the permission to send its body, which it gets when the body is read. Without it, the client may
  // send the body or not, so the connection is not used again.
  server.on('checkContinue', (request, response) => {
    response.shouldKeepAlive = false;
    enqueue(request, response);
  });

  function enqueue(request: IncomingRequest, response: ServerResponse<IncomingRequest>): void {
    const connection = connections.get(request.socket);
    if (connection === undefined || request.socket.destroyed) return;
    if (connection.response === null) handle(connection, request, response);
    else if (connection.waiting.push([request, response]) >= maxRequestsPerConnection) refuse(request.socket);
  }

  function refuse(socket: Socket): void {
    socket.destroy();
    onRefused?.();
  }

  function handle(connection: Connection, request: IncomingRequest, response: ServerResponse<IncomingRequest>): void {
    connection.share.usedAt = performance.now();
    request.share = connection.share;
    connection.response = response;
    response.on('prefinish', limitReading).on('close', endRequest);
    // A keep-alive connection that was sending a response when draining began may deliver another request.
    if (isClosing) closeConnectionAfter(connection);
    listener(request, response);
  }

  /** The whole response was passed on to the socket. Executing may take longer than reading. */
  function limitReading(this: ServerResponse<IncomingRequest>): void {
    if (this.writableLength > 0) this.setTimeout(clientTimeoutMs);
  }

  function endRequest(this: ServerResponse<IncomingRequest>): void {
    if (!this.writableFinished) this.req.abort();
    const connection = connections.get(this.req.socket);
    if (connection === undefined) return;
    connection.response = null;
    const next = connection.waiting.shift();
    if (next && !this.req.socket.destroyed) handle(connection, ...next);
  }

  function startClosing(): void {
    isClosing = true;
    // Applies to connections whose last response had begun before, and so did not announce the end.
    server.keepAliveTimeout = 1_000;
    for (const connection of connections.values()) closeConnectionAfter(connection);
  }

  return {
    /** @returns the address as a URL without a path */
    listen: (host: string, port: number) =>
      new Promise<string>((resolve, reject) => {
        server.once('error', reject);
        // A burst of connections would fill the default of 511; clients of a full queue try again after a second.
        server.listen({ host, port, backlog: maxConnections }, () => {
          server.off('error', reject);
          resolve(urlOf(server));
        });
      }),
    /** From now on, every response closes its connection: clients with connection pools move to other processes. */
    closeConnections: startClosing,
    /** Requests that are being handled, or wait. */
    activeRequests(): number {
      let active = 0;
      for (const { response, waiting } of connections.values()) active += (response === null ? 0 : 1) + waiting.length;
      return active;
    },
    /** Refuses new connections and waits for active requests; aborts them after the timeout. */
    drain: (timeoutMs: number) =>
      new Promise<void>((resolve) => {
        startClosing();
        const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        // Node.js closes idle connections, but not those that have not received a complete request yet.
        for (const [socket, { response }] of connections) if (response === null) socket.destroy();
      }),
  };
}

function describeClientError(code = ''): string {
  const status = clientErrors[code] ?? 400;
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`;
}

const clientErrors: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

interface Connection {
  /** Of the limit of connections. */
  share: Share;
  /** The response to the request that is being handled. */
  response: ServerResponse<IncomingRequest> | null;
  /** Pipelined requests, which Node.js emits all at once, and which are handled one after the other. */
  waiting: [IncomingRequest, ServerResponse<IncomingRequest>][];
}

/** Idle and slow clients lose their connections first, then those that read a response, such as that of a subscription. */
function rankOf({ response }: Connection): number {
  if (response?.headersSent) return 1;
  return response?.req.complete ? 2 : 0;
}

/** Otherwise `drain` would wait for the idle keep-alive connection. Pipelined requests are answered first. */
function closeConnectionAfter({ response, waiting }: Connection): void {
  if (response && waiting.length === 0) response.shouldKeepAlive = false;
}

/** The URL of a server that listens on a port. */
function urlOf(server: Pick<Server, 'address'>): string {
  const { address, family, port } = server.address() as AddressInfo;
  // All addresses of this machine; a container's own address cannot be reached from outside.
  if (address === '0.0.0.0' || address === '::') return `http://localhost:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
