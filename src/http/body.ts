import type { IncomingMessage } from 'node:http';

/** The whole body, or why there is none: it is larger than allowed, or the client went away while sending it. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | 'too-large' | 'broken-off'> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return resolve('too-large');
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else resolve('too-large');
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('close', () => resolve('broken-off'));
    request.on('error', () => resolve('broken-off'));
  });
}
