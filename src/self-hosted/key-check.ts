import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Tells whether a header holds the key. Digests are compared, so that neither the time it takes nor the length of a
 * guess tells anything about the key.
 */
export function createKeyCheck(apiKey: string): (given: string | string[] | undefined) => boolean {
  const expected = digest(apiKey);
  return (given) => typeof given === 'string' && timingSafeEqual(digest(given), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
