import type { ServerResponse } from 'node:http';
import { clientClosedRequest, type TextEncoding } from '../graphql/request/reply.ts';
import { discardBody } from './body-chunks.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** A request that is answered. */
interface Answered {
  response: ServerResponse<IncomingRequest>;
  /** Names and values of all headers, one after the other. */
  responseHeaders: readonly string[];
}

export type ResponseBody = string | Uint8Array;

interface Answer<Request> {
  request: Request;
  status: number;
  body: ResponseBody;
  /** Of a body that is a text. */
  encoding: TextEncoding;
}

export type WriteResponse<Request extends Answered = Answered> = (answer: Answer<Request>) => void;

interface ResponseWriterOptions<Request> {
  /** Called when a client has not read all of a response at once. */
  onUnread: (response: ServerResponse) => void;
  /** Called when a response cannot be written, such as one with an illegal header. Its connection is closed. */
  onFault: (request: Request, error: unknown) => void;
  /** Called when a response was passed on to Node.js, or with 499 if the client disconnected before. */
  onWritten: (request: Request, status: number) => void;
  /** Requests that have no response yet, this one included. */
  activeRequests: () => number;
}

/**
 * Writes the responses of a turn of the event loop together at its end. One after the other, each would wake up the client's
 * process, which takes longer than the write. Only the first one is written at once, if no other request is active: a client
 * that is alone does not wait, and of many, one works while the gateway answers the others.
 */
export function createResponseWriter<Request extends Answered>({
  onUnread,
  onFault,
  onWritten,
  activeRequests,
}: ResponseWriterOptions<Request>): WriteResponse<Request> {
  /** Whether this turn has a response. */
  let hasBegun = false;
  let waiting: Answer<Request>[] = [];

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

  function writeOrFail(answer: Answer<Request>): void {
    const { request, status } = answer;
    try {
      onWritten(request, write(answer) ? status : clientClosedRequest);
    } catch (error) {
      onFault(request, error);
      request.response.destroy();
    }
  }

  /** False if the client has disconnected. */
  function write({ request, status, body, encoding }: Answer<Request>): boolean {
    const { response, responseHeaders } = request;
    const { socket, req } = response;
    if (response.destroyed || socket === null) return false;
    if (!req.complete) discardBody(req);
    // Node.js sends a flat array as it is, without a map of headers.
    response.writeHead(status, responseHeaders as string[]);
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
