import type { Readable } from 'node:stream';

/** The text that a stream has buffered. Since Node.js 26, `read()` returns one chunk of it. */
export function readAll(stream: Readable): string {
  let text = '';
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) text += String(chunk);
  return text;
}
