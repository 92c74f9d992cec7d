import type { IncomingRequest } from './incoming-request.ts';

/** Reads the rest of a body whose request was refused, so that the connection can be used again; not of an expensive one. */
export function discardBody(request: IncomingRequest): void {
  let length = 0;
  let chunks = 0;
  request.receive({
    onChunk(chunk) {
      length += chunk.length;
      chunks += 1;
      if (length > maxDiscardedBytes || isFragmented(chunks, length)) request.socket.destroy();
    },
    onEnd() {},
    onDisconnected() {},
  });
}

const maxDiscardedBytes = 1_000_000;

/** Whether it has many chunks that are smaller than a network makes them: each takes 1.5 µs. */
export function isFragmented(chunks: number, length: number): boolean {
  return chunks > maxSmallChunks && chunks * minChunkBytes > length;
}

const maxSmallChunks = 5_000;
const minChunkBytes = 32;
