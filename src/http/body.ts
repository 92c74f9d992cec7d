import { clientClosedRequest } from '../graphql/reply.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Exchange } from './exchange.ts';

interface BodyLimits {
  /** Maximum size of one body, in bytes. */
  maxBytes: number;
  /** Holds each body that does not arrive at once, and each large one, until its response is closed. */
  budget: ByteBudget;
}

type Body = Buffer | 'too-large' | 'evicted';

/** Calls back once with the whole body, or why it could not be read; never if the client disconnects. */
export function readBody(exchange: Exchange, { maxBytes, budget }: BodyLimits, onBody: (body: Body) => void): void {
  const { request, response, headers } = exchange;
  const announcedLength = Number(headers['content-length'] ?? Number.NaN);
  if (announcedLength > maxBytes) {
    onBody('too-large');
    return;
  }
  if (headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue();
  let body: Buffer | null = noBytes;
  let length = 0;
  let held: ReturnType<ByteBudget['hold']> | undefined;

  const finish = (result: Body) => {
    body = null;
    exchange.receivedAt = performance.now();
    if (typeof result === 'string') held?.release();
    else held?.protect();
    onBody(result);
  };
  request.on('data', (chunk: Buffer) => {
    if (body === null) return;
    if (length + chunk.length > maxBytes) return finish('too-large');
    const isWhole = chunk.length === announcedLength;
    body = isWhole ? chunk : append(body, length, chunk);
    length += chunk.length;
    if (isWhole && length < uncountedBytes) return;
    held ??= holdBytes();
    held.add(chunk.length);
  });
  request.on('end', () => body && finish(body.subarray(0, length)));
  // The client disconnected.
  request.on('error', () => body && exchange.finish(clientClosedRequest));

  function holdBytes() {
    const bytes = budget.hold(() => body && finish('evicted'));
    response.on('close', () => {
      if (body) exchange.finish(clientClosedRequest);
      body = null;
      bytes.release();
    });
    return bytes;
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
