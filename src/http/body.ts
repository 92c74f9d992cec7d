import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteBudget } from './byte-budget.ts';

interface BodyLimits {
  /** Maximum size of one body, in bytes. */
  maxBytes: number;
  /** Holds each body until its response is closed. */
  budget: ByteBudget;
}

/** The whole body, or why it could not be read. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes, budget }: BodyLimits,
): Promise<Buffer | 'too-large' | 'evicted' | 'aborted'> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return resolve('too-large');
    let body: Buffer | null = Buffer.alloc(0);
    let length = 0;
    const finish = (result: Buffer | 'too-large' | 'evicted' | 'aborted') => {
      body = null;
      if (typeof result === 'string') held.release();
      else held.protect();
      resolve(result);
    };
    const held = budget.hold(() => finish('evicted'));
    request.on('data', (chunk: Buffer) => {
      if (body === null) return;
      if (length + chunk.length > maxBytes) return finish('too-large');
      body = append(body, length, chunk);
      length += chunk.length;
      held.add(chunk.length);
    });
    request.on('end', () => body && finish(body.subarray(0, length)));
    request.on('close', () => body && finish('aborted'));
    request.on('error', () => body && finish('aborted'));
    response.on('close', () => held.release());
  });
}

/** Copies the chunk, which can be a single byte with an overhead of hundreds. @returns the same buffer or a larger one */
function append(body: Buffer, length: number, chunk: Buffer): Buffer {
  const needed = length + chunk.length;
  const target = needed > body.length ? Buffer.alloc(Math.max(needed, 2 * body.length)) : body;
  if (target !== body) body.copy(target, 0, 0, length);
  chunk.copy(target, length);
  return target;
}
