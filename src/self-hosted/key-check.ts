import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Checks whether a header contains the key. Compares digests in constant time, so that response times reveal neither the
 * key nor its length.
 */
export function createKeyCheck(apiKey: string): (header: string | string[] | undefined) => boolean {
  const expected = digest(apiKey);
  return (header) => typeof header === 'string' && timingSafeEqual(digest(header), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
