import { clientClosedRequest } from '../graphql/request/reply.ts';
import type { Exchange } from './exchange.ts';
import type { Share, Shares } from './shares.ts';

interface BodyLimits {
  /** Maximum size of one body, in bytes. */
  maxBytes: number;
  /** Counts each body that does not arrive at once, and each large one, until its response is closed; null: none. */
  buffered: Shares | null;
}

/** The body of a request, or why it was not read. */
type Body = Buffer | 'too-large' | 'fragmented' | 'lost' | 'disconnected';

/** Limit for the body of a request to GraphQL or to the MCP endpoint. */
export const defaultBodyBytes = 1_000_000;

/** Reads the whole body. Null if it was refused, and an error was sent. */
export function readBodyOrRefuse(exchange: Exchange, limits: BodyLimits): Promise<Buffer | null> {
  return new Promise((resolve) => receiveBodyOrRefuse(exchange, limits, resolve));
}

/** As `readBodyOrRefuse`, for requests that are not worth a promise. @param onBody called once */
export function receiveBodyOrRefuse(
  exchange: Exchange,
  limits: BodyLimits,
  onBody: (body: Buffer | null) => void,
): void {
  receiveBody(exchange, limits, (body) => {
    exchange.receivedAt = performance.now();
    if (typeof body === 'string') refuse(exchange, body, limits);
    onBody(typeof body === 'string' ? null : body);
  });
}

function refuse(exchange: Exchange, reason: Exclude<Body, Buffer>, { maxBytes }: BodyLimits): void {
  if (reason === 'disconnected') exchange.finish(clientClosedRequest);
  else if (reason === 'too-large') {
    const message = `The request body must have at most ${maxBytes} bytes.`;
    exchange.sendError(413, 'BAD_USER_INPUT', message, closeConnection);
  } else if (reason === 'fragmented') {
    const message = 'The request body has too many small chunks; send larger ones, or a Content-Length.';
    exchange.sendError(400, 'BAD_USER_INPUT', message, closeConnection);
  } else {
    const message = 'The gateway is receiving more bytes than MAX_BUFFERED_BYTES; retry in a second.';
    exchange.sendError(503, 'OVERLOADED', message, [...closeConnection, 'retry-after', '1']);
  }
}

const closeConnection = ['connection', 'close'];

export function readBody(exchange: Pick<Exchange, 'request' | 'response'>, limits: BodyLimits): Promise<Body> {
  return new Promise((resolve) => receiveBody(exchange, limits, resolve));
}

/** @param onBody called once */
function receiveBody(
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  { maxBytes, buffered }: BodyLimits,
  onBody: (body: Body) => void,
): void {
  const { headers } = request;
  /** NaN if it is not known. */
  const announcedLength = Number(headers['content-length'] ?? Number.NaN);
  if (announcedLength > maxBytes) {
    onBody('too-large');
    return;
  }
  if (headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue();
  /** Null when reading has ended. */
  let body: Buffer | null = noBytes;
  let length = 0;
  let share: Share | null = null;

  request.receive({
    onChunk(chunk) {
      if (body === null) return;
      if (length + chunk.length > maxBytes) return finish('too-large');
      if (request.isFragmented) {
        // Stops parsing chunks that were already received, too.
        request.socket.pause();
        return finish('fragmented');
      }
      const isWhole = chunk.length === announcedLength;
      body = isWhole ? chunk : append(body, length, chunk);
      length += chunk.length;
      if (buffered === null || (isWhole && length < uncountedBytes)) return;
      share ??= takeShare(buffered);
      share.add(chunk.length);
    },
    onEnd() {
      if (body !== null) finish(body.subarray(0, length));
    },
    onDisconnected() {
      if (body !== null) finish('disconnected');
    },
  });

  /** Incomplete bodies are lost before those of requests that are being executed. */
  function takeShare(buffered: Shares): Share {
    const rank = () => (body === null ? 1 : 0);
    const onLost = () => (body === null ? response.destroy() : finish('lost'));
    const taken = buffered.take({ holder: request.share?.holder ?? '', rank, onLost });
    response.on('close', taken.release);
    return taken;
  }

  function finish(result: Body): void {
    body = null;
    if (typeof result === 'string') share?.release();
    onBody(result);
  }
}

const noBytes = Buffer.alloc(0);

/** Bodies that arrive at once and are smaller are not worth counting: the limit of connections bounds them. */
const uncountedBytes = 16_000;

/** Copies the chunk, which can be a single byte with an overhead of hundreds. @returns the same buffer or a larger one */
function append(body: Buffer, length: number, chunk: Buffer): Buffer {
  const needed = length + chunk.length;
  const target = needed > body.length ? Buffer.alloc(Math.max(needed, 2 * body.length)) : body;
  if (target !== body) body.copy(target, 0, 0, length);
  chunk.copy(target, length);
  return target;
}
