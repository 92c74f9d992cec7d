import type { Exchange } from './exchange.ts';
import { isFragmented } from './incoming-request.ts';

interface BodyLimits {
  /** Maximum size of one body, in bytes. */
  maxBytes: number;
  /** Holds each body that does not arrive at once, and each large one, until its response is closed. */
  budget: ByteBudget;
}

/** The body of a request, or why it was not read. */
export type Body = Buffer | 'too-large' | 'fragmented' | 'evicted' | 'disconnected';

/** Reads the whole body. Begins at once, before the promise is awaited. */
export function readBody(exchange: Exchange, limits: BodyLimits): Promise<Body> {
  return new Promise((resolve) => receiveBody(exchange, limits, resolve));
}

/** @param onBody called once */
function receiveBody(exchange: Exchange, { maxBytes, budget }: BodyLimits, onBody: (body: Body) => void): void {
  const { request, response, headers } = exchange;
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
  let chunks = 0;
  let held: HeldBytes | null = null;

  request.receive({
    onChunk(chunk) {
      if (body === null) return;
      if (length + chunk.length > maxBytes) return finish('too-large');
      chunks += 1;
      if (isFragmented(chunks, length + chunk.length)) {
        // Stops parsing chunks that were already received, too.
        request.socket.pause();
        return finish('fragmented');
      }
      const isWhole = chunk.length === announcedLength;
      body = isWhole ? chunk : append(body, length, chunk);
      length += chunk.length;
      if (isWhole && length < uncountedBytes) return;
      held ??= hold();
      held.add(chunk.length);
    },
    onEnd() {
      if (body !== null) finish(body.subarray(0, length));
    },
    onDisconnected() {
      if (body !== null) finish('disconnected');
    },
  });

  function hold(): HeldBytes {
    const bytes = budget.hold(() => body !== null && finish('evicted'));
    response.on('close', bytes.release);
    return bytes;
  }

  function finish(result: Body): void {
    body = null;
    exchange.receivedAt = performance.now();
    if (typeof result === 'string') held?.release();
    else held?.protect();
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

export type ByteBudget = ReturnType<typeof createByteBudget>;

type HeldBytes = ReturnType<ByteBudget['hold']>;

/** A limit for the bytes that clients make the gateway hold in memory. Beyond it, the oldest holders are evicted. */
export function createByteBudget(maxBytes: number) {
  const holders = new Set<() => void>();
  let totalBytes = 0;
  return {
    /** @param onEvict is called after the bytes were released */
    hold(onEvict: () => void) {
      let heldBytes = 0;
      const release = () => {
        totalBytes -= heldBytes;
        heldBytes = 0;
        holders.delete(evict);
      };
      const evict = () => {
        release();
        onEvict();
      };
      holders.add(evict);
      return {
        add(bytes: number): void {
          heldBytes += bytes;
          totalBytes += bytes;
          for (const evictOldest of holders) if (totalBytes > maxBytes) evictOldest();
        },
        /** From now on, the bytes are held until they are released. */
        protect: () => holders.delete(evict),
        release,
      };
    },
  };
}
