import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { IncomingRequest } from './incoming-request.ts';

export interface Connection {
  /** Of the request that is being handled. */
  response: ServerResponse<IncomingRequest> | null;
  /** Pipelined requests, which Node.js emits all at once, and which are handled one after the other. */
  waiting: [IncomingRequest, ServerResponse<IncomingRequest>][];
  /** Counts connections and requests: the least was used the longest time ago. */
  lastUse: number;
}

/** The new connection itself if requests of all others are being executed. */
export function findLeastUsed(connections: ReadonlyMap<Socket, Connection>, newSocket: Socket): Socket {
  let least: Socket | undefined;
  let leastUse = Number.POSITIVE_INFINITY;
  for (const [socket, { response, lastUse }] of connections) {
    const isExecuting = response?.req.complete && !response.headersSent;
    if (socket === newSocket || isExecuting || lastUse >= leastUse) continue;
    least = socket;
    leastUse = lastUse;
  }
  return least ?? newSocket;
}

/** Otherwise `drain` would wait for the idle keep-alive connection. Pipelined requests are answered first. */
export function closeConnectionAfter({ response, waiting }: Connection): void {
  if (response && waiting.length === 0) response.shouldKeepAlive = false;
}
