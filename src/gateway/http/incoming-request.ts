import { IncomingMessage, type ServerResponse } from 'node:http';
import { AbortableSignal } from '../../base/async/signal.ts';
import type { Share } from './shares.ts';

/** Receives the body of a request. */
export interface BodyReceiver {
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  /** The client has disconnected before the end. */
  onDisconnected(): void;
}

/**
 * A request that passes its body on as it arrives. A stream would begin to flow and report its end in later ticks: a tenth
 * of the time of a short request.
 */
export class IncomingRequest extends IncomingMessage {
  /** Aborts when the client disconnects before the response is complete. */
  readonly signal = new AbortableSignal();
  /** Whether the response is sent while the body arrives, which may take longer than other requests may. */
  isStreamed = false;
  /** The share of its connection; set when the request is handled. */
  share: Share | null = null;
  #receiver: BodyReceiver | null = null;
  /** Of the body, as far as it has arrived. */
  #chunks = 0;
  #length = 0;
  /** Whether a part of the body has arrived before there was a receiver, so that the stream keeps the body. */
  #isStream = false;

  static {
    // After the response, Node.js keeps a request and all that it refers to until this is true, and a body that is not read
    // as a stream never ends the stream. TypeScript declares a field, which a getter cannot override.
    Object.defineProperty(IncomingRequest.prototype, 'readableEnded', {
      get(this: IncomingRequest) {
        return this.complete;
      },
    });
  }

  /** Called when the response is closed and not complete. */
  abort(): void {
    this.signal.abort(disconnected);
  }

  /** Replaces the receiver: this one gets what arrives from now on. */
  receive(receiver: BodyReceiver): void {
    if (this.destroyed) {
      receiver.onDisconnected();
      return;
    }
    const isFirst = this.#receiver === null;
    this.#receiver = receiver;
    if (!isFirst) return;
    if (this.#isStream) {
      this.on('data', (chunk: Buffer) => this.#receiver?.onChunk(chunk));
      this.on('end', () => this.#end());
    } else {
      // Marks the request as read; otherwise Node.js would read the stream to its end after the response.
      this._read(0);
    }
  }

  /** Whether the body has so many small chunks that reading it takes long. */
  get isFragmented(): boolean {
    return isFragmented(this.#chunks, this.#length);
  }

  /** Called by Node.js with each chunk, and with null at the end. */
  override push(chunk: Buffer | null): boolean {
    if (chunk !== null) {
      this.#chunks += 1;
      this.#length += chunk.length;
    }
    if (this.#receiver === null) this.#isStream = true;
    if (this.#receiver === null || this.#isStream) return super.push(chunk);
    if (chunk === null) {
      this.#end();
      // Node.js waits for it if the response was written before.
      this.emit('end');
    } else this.#receiver.onChunk(chunk);
    return true;
  }

  /** Reads the rest of the body without keeping it. @param onEnd called once: at its end, or when it takes more than a limit */
  discardBody(onEnd: () => void): void {
    const maxLength = this.#length + maxDiscardedBytes;
    const end = () => {
      this.#receiver = noReceiver;
      clearTimeout(timer);
      onEnd();
    };
    const timer = setTimeout(end, maxDiscardMs).unref();
    const onChunk = () => {
      if (this.#length > maxLength || this.isFragmented) end();
    };
    if (this.isFragmented) end();
    else this.receive({ onChunk, onEnd: end, onDisconnected: end });
  }

  #end(): void {
    const receiver = this.#receiver;
    this.#receiver = noReceiver;
    receiver?.onEnd();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const receiver = this.#receiver;
    this.#receiver = noReceiver;
    receiver?.onDisconnected();
    super._destroy(error, callback);
  }
}

/** The receiver after the end. */
const noReceiver: BodyReceiver = { onChunk() {}, onEnd() {}, onDisconnected() {} };

const maxDiscardedBytes = 100_000_000;
const maxDiscardMs = 30_000;

/**
 * Ends a response that was written, once the rest of the body has arrived: if a connection is closed before, many clients see that
 * it was reset, and not the response. Closes the connection of a client that does not end.
 */
export function endAfterBody(response: ServerResponse<IncomingRequest>): void {
  const { req, socket } = response;
  if (req.complete) {
    response.end();
    return;
  }
  response.flushHeaders();
  req.discardBody(() => {
    response.end();
    if (!req.complete) socket?.destroySoon();
  });
}

/** Whether a body has many chunks that are smaller than a network makes them, so that reading it takes long. */
export function isFragmented(chunks: number, length: number): boolean {
  return chunks > maxSmallChunks && chunks * minChunkBytes > length;
}

const maxSmallChunks = 5_000;
const minChunkBytes = 32;

/** The same for all requests: GraphQL.js reads the stack of an error, and formatting one per request takes long. */
const disconnected = new DOMException('The client disconnected.', 'AbortError');
