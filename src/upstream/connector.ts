import { Socket } from 'node:net';
import { buildConnector } from 'undici';

/**
 * undici's connector with sockets that pass each chunk on when it is read. The stream of a socket would allocate 64 KiB for
 * each read and pass the chunk on in a later tick: together as much time as parsing a short response takes.
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
