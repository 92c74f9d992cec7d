import { IncomingMessage } from 'node:http';
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

  /** Called by Node.js with each chunk, and with null at the end. */
  override push(chunk: Buffer | null): boolean {
    if (this.#receiver === null) this.#isStream = true;
    if (this.#receiver === null || this.#isStream) return super.push(chunk);
    if (chunk === null) {
      this.#end();
      // Node.js waits for it if the response was written before.
      this.emit('end');
    } else this.#receiver.onChunk(chunk);
    return true;
  }

  /** Reads the rest of the body after a response, so that the connection can be used again; not of an expensive one. */
  discardBody(): void {
    let length = 0;
    let chunks = 0;
    const onChunk = (chunk: Buffer) => {
      length += chunk.length;
      chunks += 1;
      if (length > maxDiscardedBytes || isFragmented(chunks, length)) this.socket.destroy();
    };
    this.receive({ ...noReceiver, onChunk });
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

const maxDiscardedBytes = 1_000_000;

/** Whether a body has many chunks that are smaller than a network makes them, so that reading it takes long. */
export function isFragmented(chunks: number, length: number): boolean {
  return chunks > maxSmallChunks && chunks * minChunkBytes > length;
}

const maxSmallChunks = 5_000;
const minChunkBytes = 32;

/** The same for all requests: GraphQL.js reads the stack of an error, and formatting one per request takes long. */
const disconnected = new DOMException('The client disconnected.', 'AbortError');
