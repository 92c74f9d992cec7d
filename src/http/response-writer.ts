import type { ServerResponse } from 'node:http';

/** @param headers names and values, one after the other */
export type WriteResponse = (
  response: ServerResponse,
  status: number,
  headers: readonly string[],
  body: string | Uint8Array,
) => void;

interface WaitingResponse {
  response: ServerResponse;
  status: number;
  headers: readonly string[];
  body: string | Uint8Array;
}

/**
 * Writes all responses of a turn of the event loop at its end. One after the other, each would wake up the client's
 * process, which takes longer than the write.
 * @param onWritten called when a response was passed on to the socket, which may not have accepted all of it
 */
export function createResponseWriter(onWritten: (response: ServerResponse) => void): WriteResponse {
  let waiting: WaitingResponse[] = [];

  return (response, status, headers, body) => {
    waiting.push({ response, status, headers, body });
    if (waiting.length === 1) setImmediate(writeAll);
  };

  function writeAll(): void {
    const responses = waiting;
    waiting = [];
    for (const waitingResponse of responses) write(waitingResponse);
  }

  function write({ response, status, headers, body }: WaitingResponse): void {
    const { socket } = response;
    if (response.destroyed || socket === null) return;
    try {
      // Node.js sends a flat array as it is, without a map of headers.
      response.writeHead(status, headers as string[]);
      if (body.length > 0) {
        response.write(body);
        // Sent at once, header and body are one write; `end(body)` adds an empty one.
        socket.uncork();
      }
      response.end();
      if (response.writableLength > 0) onWritten(response);
    } catch {
      // A header with an illegal character, of which there should be none.
      response.destroy();
    }
  }
}
