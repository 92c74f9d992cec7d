import { clientClosedRequest } from '../graphql/request/reply.ts';
import { isFragmented } from './body-chunks.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Exchange } from './exchange.ts';
import type { BodyReceiver } from './incoming-request.ts';

interface BodyLimits {
  /** Maximum size of one body, in bytes. */
  maxBytes: number;
  /** Holds each body that does not arrive at once, and each large one, until its response is closed. */
  budget: ByteBudget;
}

/** Or why it was not read. */
export type Body = Buffer | 'too-large' | 'fragmented' | 'evicted';

/** Calls back once with the whole body, or why it could not be read; never if the client disconnects. */
export function readBody(exchange: Exchange, limits: BodyLimits, onBody: (body: Body) => void): void {
  const { request, response, headers } = exchange;
  const announcedLength = Number(headers['content-length'] ?? Number.NaN);
  if (announcedLength > limits.maxBytes) {
    onBody('too-large');
    return;
  }
  if (headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue();
  request.receive(new BodyReader(exchange, announcedLength, limits, onBody));
}

class BodyReader implements BodyReceiver {
  readonly #exchange: Exchange;
  /** NaN if it is not known. */
  readonly #announcedLength: number;
  readonly #limits: BodyLimits;
  readonly #onBody: (body: Body) => void;
  /** Null when reading has ended. */
  #body: Buffer | null = noBytes;
  #length = 0;
  #chunks = 0;
  #held: ReturnType<ByteBudget['hold']> | null = null;

  constructor(exchange: Exchange, announcedLength: number, limits: BodyLimits, onBody: (body: Body) => void) {
    this.#exchange = exchange;
    this.#announcedLength = announcedLength;
    this.#limits = limits;
    this.#onBody = onBody;
  }

  onChunk(chunk: Buffer): void {
    if (this.#body === null) return;
    const length = this.#length + chunk.length;
    if (length > this.#limits.maxBytes) {
      this.#finish('too-large');
      return;
    }
    this.#chunks += 1;
    if (isFragmented(this.#chunks, length)) {
      // Stops parsing chunks that were already received, too.
      this.#exchange.request.socket.pause();
      this.#finish('fragmented');
      return;
    }
    const isWhole = chunk.length === this.#announcedLength;
    this.#body = isWhole ? chunk : append(this.#body, this.#length, chunk);
    this.#length = length;
    if (isWhole && length < uncountedBytes) return;
    this.#held ??= this.#hold();
    this.#held.add(chunk.length);
  }

  onEnd(): void {
    if (this.#body !== null) this.#finish(this.#body.subarray(0, this.#length));
  }

  onDisconnected(): void {
    if (this.#body !== null) this.#exchange.finish(clientClosedRequest);
    this.#body = null;
  }

  #finish(result: Body): void {
    this.#body = null;
    this.#exchange.receivedAt = performance.now();
    if (typeof result === 'string') this.#held?.release();
    else this.#held?.protect();
    this.#onBody(result);
  }

  #hold(): ReturnType<ByteBudget['hold']> {
    const held = this.#limits.budget.hold(() => this.#body !== null && this.#finish('evicted'));
    this.#exchange.response.on('close', held.release);
    return held;
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
