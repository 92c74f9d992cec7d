import { Socket } from 'node:net';
import { buildConnector, type Dispatcher, Pool } from 'undici';

/** Sends the calls of a service: undici's pool. Tests replace it. */
export type Connections = Pick<Dispatcher, 'dispatch' | 'close' | 'destroy'>;

interface ConnectionsOptions {
  origin: string;
  /** Largest number of calls in flight. */
  maxCalls: number;
  /** Whether a connection is used for more than one call. */
  isKept: boolean;
}

/**
 * Connections to a service, each with one call at a time. Without `isKept`, each call has a connection of its own: an order may be
 * charged and lost if the service closes a kept one at that moment, and no late response to another call can be taken for its answer.
 */
export function createConnections({ origin, maxCalls, isKept }: ConnectionsOptions): Connections {
  // The deadline bounds the whole call, so undici's timeouts for headers and body are off. With `pipelining: 0`, undici closes the
  // connection after each call.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
  return new Pool(origin, {
    connect: createConnector(),
    connections: maxCalls,
    pipelining: isKept ? 1 : 0,
    ...timeouts,
  });
}

/**
 * undici's connector with sockets that read into one buffer (Node.js' option `onread`), and pass each chunk on when it is read. The
 * stream of a socket would allocate 64 KiB for each read and pass the chunk on in a later tick: together as much time as parsing a
 * short response takes.
 */
export function createConnector(): buildConnector.connector {
  // One buffer for all sockets: it is in use only until `onRead` returns.
  const onread = { buffer: Buffer.allocUnsafeSlow(bytesPerRead), callback: onRead };
  const connect = buildConnector({ onread } as buildConnector.BuildOptions);
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      if (socket) Object.assign(socket, { chunk: null, read });
      callback(...result);
    });
}

/** A socket that passes a chunk on. */
interface ReadSocket extends Socket {
  chunk: Buffer | null;
}

/** Node.js calls it instead of pushing a chunk into the stream; `this` is the socket. */
function onRead(this: ReadSocket, length: number, bytes: Uint8Array): boolean {
  // A copy: undici keeps parts of a chunk, such as the headers that have arrived, until it has received the rest.
  this.chunk = Buffer.from(bytes.subarray(0, length));
  this.emit('readable');
  // A chunk that was not read goes into the stream, from where it is read later.
  if (this.chunk !== null) this.unshift(this.chunk);
  this.chunk = null;
  return true;
}

/** The method of a stream: undici calls it several times for each response, and usually there is nothing to read. */
function read(this: ReadSocket, size?: number): Buffer | null {
  const { chunk } = this;
  if (size !== undefined || (chunk === null && this.readableLength > 0)) return Socket.prototype.read.call(this, size);
  this.chunk = null;
  return chunk;
}

const bytesPerRead = 65_536;
