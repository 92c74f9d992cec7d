import type { FastifyReply } from 'fastify';
import Negotiator from 'negotiator';

/** The media type of an answer in lines. */
export const linesType = 'application/x-ndjson';

/** An answer in lines of JSON, whose last line is the answer itself or a failure. */
interface Lines {
  /** Sends a line with a further part of the text. The first one sends the head with status 200. */
  addText: (part: string) => void;
  /** Whether the head was sent. */
  hasBegun(): boolean;
  /** Sends the last line. */
  end(answer: object): FastifyReply;
}

/** Whether a client prefers lines to one JSON object, or accepts both alike. It must name their media type. */
export function acceptsLines(accept = ''): boolean {
  const namesLines = (range: string) => range.toLowerCase().includes(linesType);
  // Of two types with the same weight, a Negotiator prefers the first.
  const ranges = accept.split(',').toSorted((a, b) => Number(namesLines(b)) - Number(namesLines(a)));
  const chosen = new Negotiator({ headers: { accept: ranges.join() } }).mediaType([linesType, 'application/json']);
  return namesLines(accept) && chosen === linesType;
}

/**
 * Sends each line when it is added. A client that reads slowly does not slow down the writer: what waits for it is at most the essay.
 * @param reply with all other headers
 */
export function createLines(reply: FastifyReply): Lines {
  const { raw } = reply;

  return {
    addText(text) {
      if (!raw.headersSent) sendHead();
      if (!raw.destroyed) raw.write(toLine({ text }));
    },
    hasBegun: () => raw.headersSent,
    end(answer) {
      if (!raw.headersSent) return reply.type(contentType).send(toLine(answer));
      if (!raw.destroyed) raw.end(toLine(answer));
      return reply;
    },
  };

  function sendHead(): void {
    for (const [name, value] of Object.entries(reply.type(contentType).getHeaders())) raw.setHeader(name, value ?? '');
    // From here on, Fastify does not send anything itself.
    reply.hijack();
    raw.writeHead(200);
  }
}

const contentType = `${linesType}; charset=utf-8`;

function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
