import type { ServerResponse } from 'node:http';
import { clientClosedRequest, partialSuccess } from '../graphql/request/reply.ts';
import type { Exchange, PendingResponse } from './exchange.ts';

interface ResponseWriterOptions {
  /** Called when a client has not read all of a response at once. */
  onUnread: (response: ServerResponse) => void;
  /** Called when a response cannot be written, such as one with an illegal header. Its connection is closed. */
  onFault: (exchange: Exchange, error: unknown) => void;
  /** Number of requests that have no response yet, this one included. */
  activeRequests: () => number;
}

/**
 * Writes the responses of a turn of the event loop together at its end: each write wakes up the client's process, which may share
 * a core. If no other request is active, a response is written at once, so that a client that is alone does not wait.
 */
export function createResponseWriter(options: ResponseWriterOptions): (pending: PendingResponse) => void {
  const { onUnread, onFault, activeRequests } = options;
  /** Whether this turn has a response. */
  let hasBegun = false;
  let waiting: PendingResponse[] = [];

  return (pending) => {
    const isWrittenNow = !hasBegun && activeRequests() === 1;
    if (!hasBegun) setImmediate(endTurn);
    hasBegun = true;
    if (isWrittenNow) writeOrFail(pending);
    else waiting.push(pending);
  };

  function endTurn(): void {
    hasBegun = false;
    const responses = waiting;
    waiting = [];
    for (const pending of responses) writeOrFail(pending);
  }

  function writeOrFail(pending: PendingResponse): void {
    const { exchange, status } = pending;
    try {
      exchange.finish(write(pending) ? status : clientClosedRequest);
    } catch (error) {
      onFault(exchange, error);
      exchange.response.destroy();
    }
  }

  /** False if the client has disconnected. */
  function write({ exchange: { response, responseHeaders }, status, body, encoding }: PendingResponse): boolean {
    const { socket, req } = response;
    if (response.destroyed || socket === null) return false;
    if (!req.complete) req.discardBody();
    // Node.js does not know its name.
    if (status === partialSuccess) response.statusMessage = 'Partial Success';
    // Node.js sends a flat array as it is, without a map of headers.
    response.writeHead(status, responseHeaders);
    if (body.length > 0) {
      // Header and body in one write; `end(body)` would add an empty one. Otherwise, `write` corks the socket until the
      // next tick.
      socket.cork();
      response.write(body, encoding);
      socket.uncork();
    }
    response.end();
    if (response.writableLength > 0) onUnread(response);
    return true;
  }
}
