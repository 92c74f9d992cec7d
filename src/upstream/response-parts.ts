import { util } from 'undici';
import type { Answered } from './operation.ts';

/** The headers that the gateway reads. Most responses have none of them, and then nothing is parsed. */
export function readHeaders(raw: Buffer[]): Answered['headers'] {
  const found: Buffer[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    const value = raw[index + 1];
    if (name && value && nameLengths.has(name.length)) found.push(name, value);
  }
  return found.length === 0 ? noHeaders : util.parseHeaders(found);
}

const nameLengths = new Set(
  ['retry-after', 'x-bank-data-version', 'x-ratelimit-limit-month', 'x-ratelimit-remaining-month'].map(
    ({ length }) => length,
  ),
);
export const noHeaders: Answered['headers'] = {};

/** Both replace malformed UTF-8 in the same way; only `TextDecoder` removes a byte order mark. */
export function decode(bytes: Buffer): string {
  return bytes[0] === 0xef ? new TextDecoder().decode(bytes) : bytes.toString();
}

/** Without the last character, if it is incomplete. */
export function decodePart(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
