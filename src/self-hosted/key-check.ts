import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares digests of a header and the key in constant time: response times reveal neither the key nor its length. */
export function createKeyCheck(apiKey: string): (header: string | string[] | undefined) => boolean {
  const expected = digest(apiKey);
  return (header) => typeof header === 'string' && timingSafeEqual(digest(header), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
