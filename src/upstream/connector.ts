import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/**
 * undici's connector with sockets that pass each chunk on when it is read. The stream of a socket would allocate 64 KiB for
 * each read and pass the chunk on in a later tick: together as much time as parsing a short response takes.
 */
export function createConnector(): buildConnector.connector {
  // One buffer for all sockets: it is in use only until `onRead` returns.
  const onread = { buffer: Buffer.allocUnsafeSlow(bytesPerRead), callback: onRead };
  return buildConnector({ onread } as buildConnector.BuildOptions);
}

/** A socket that passes a chunk on. */
interface ReadSocket extends Socket {
  chunk: Buffer | null;
}

/** Node.js calls it instead of pushing a chunk into the stream; `this` is the socket. */
function onRead(this: ReadSocket, length: number, bytes: Uint8Array): boolean {
  // A copy: undici keeps parts of a chunk, such as the headers that have arrived, until it has received the rest.
  this.chunk = Buffer.from(bytes.subarray(0, length));
  const { read } = this;
  this.read = readChunk;
  try {
    this.emit('readable');
  } finally {
    this.read = read;
  }
  // A chunk that was not read goes into the stream, from where it is read later.
  if (this.chunk !== null) this.unshift(this.chunk);
  this.chunk = null;
  return true;
}

function readChunk(this: ReadSocket): Buffer | null {
  const { chunk } = this;
  this.chunk = null;
  return chunk;
}

const bytesPerRead = 65_536;
