import type { ServerResponse } from 'node:http';
import { clientClosedRequest } from '../graphql/request/reply.ts';
import type { Answer, Exchange } from './exchange.ts';

interface ResponseWriterOptions {
  /** Called when a client has not read all of a response at once. */
  onUnread: (response: ServerResponse) => void;
  /** Called when a response cannot be written, such as one with an illegal header. Its connection is closed. */
  onFault: (exchange: Exchange, error: unknown) => void;
  /** Number of requests that have no response yet, this one included. */
  activeRequests: () => number;
}

/**
 * Writes the responses of a turn of the event loop together at its end. One after the other, each would wake up the client's
 * process, which takes longer than the write. Only the first one is written at once, if no other request is active: a client
 * that is alone does not wait, and of many, one works while the gateway answers the others.
 */
export function createResponseWriter(options: ResponseWriterOptions): (answer: Answer) => void {
  const { onUnread, onFault, activeRequests } = options;
  /** Whether this turn has a response. */
  let hasBegun = false;
  let waiting: Answer[] = [];

  return (answer) => {
    const isWrittenNow = !hasBegun && activeRequests() === 1;
    if (!hasBegun) setImmediate(endTurn);
    hasBegun = true;
    if (isWrittenNow) writeOrFail(answer);
    else waiting.push(answer);
  };

  function endTurn(): void {
    hasBegun = false;
    const answers = waiting;
    waiting = [];
    for (const answer of answers) writeOrFail(answer);
  }

  function writeOrFail(answer: Answer): void {
    const { exchange, status } = answer;
    try {
      exchange.finish(write(answer) ? status : clientClosedRequest);
    } catch (error) {
      onFault(exchange, error);
      exchange.response.destroy();
    }
  }

  /** False if the client has disconnected. */
  function write({ exchange: { response, responseHeaders }, status, body, encoding }: Answer): boolean {
    const { socket, req } = response;
    if (response.destroyed || socket === null) return false;
    if (!req.complete) req.discardBody();
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
