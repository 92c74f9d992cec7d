import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Why a request with this `apikey` header is refused; null where the key is right. Digests are compared, so that
 * neither the time it takes nor the length of the guess tells anything about the key.
 */
export function createKeyCheck(apiKey: string): (given: string | string[] | undefined) => string | null {
  const expected = digest(apiKey);
  return (given) => {
    if (typeof given !== 'string' || given === '') return 'No API key found in request';
    return timingSafeEqual(digest(given), expected) ? null : 'Invalid authentication credentials';
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
