import { errors } from 'undici';
import type { ReadHeaders } from './outcome.ts';

/* What is read of a response, from the bytes of its head and of its body. */

export const noHeaders: ReadHeaders = {};

/** By their lengths, as each response has many others. */
const headerNames: Readonly<Record<number, readonly [string, keyof ReadHeaders]>> = {
  11: ['retry-after', 'retryAfter'],
  19: ['x-bank-data-version', 'dataVersion'],
  23: ['x-ratelimit-limit-month', 'limitMonth'],
  27: ['x-ratelimit-remaining-month', 'remainingMonth'],
};

/** The first value of each header that the gateway reads. @param raw names and values, one after the other */
export function readHeaders(raw: readonly Buffer[]): ReadHeaders {
  let headers = noHeaders;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    const wanted = name && headerNames[name.length];
    if (!wanted || name.toString('latin1').toLowerCase() !== wanted[0]) continue;
    if (headers === noHeaders) headers = {};
    headers[wanted[1]] ??= raw[index + 1]?.toString('latin1') ?? '';
  }
  return headers;
}

/** Undici also rejects `100 Continue` and `101 Switching Protocols`. */
export function isInvalidHttp(error: unknown): boolean {
  if (error instanceof errors.SocketError) return /^bad (?:response|upgrade)$/.test(error.message);
  return (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError
  );
}

/** The text of a body in UTF-8 without its byte order mark; in Windows-1252, which includes Latin-1, if it is rather that. */
export function decode(bytes: Buffer): string {
  const text = bytes.toString();
  if (text.includes('\uFFFD')) return repairLatin1(text, bytes);
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The text in Windows-1252 if most of its characters beyond ASCII are malformed UTF-8. */
function repairLatin1(text: string, bytes: Buffer): string {
  const malformed = text.match(/\uFFFD/g)?.length ?? 0;
  const others = text.match(/[^\0-\x7F\uFFFD]/g)?.length ?? 0;
  return malformed > others ? windows1252.decode(bytes) : text;
}

const windows1252 = new TextDecoder('windows-1252');

/** Without the last character, if it is incomplete. */
export function decodePart(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
