import { createHmac } from 'node:crypto';

export type KeyHash = (text: string) => string;

/**
 * Hashes keys that must not be readable in the store, such as IBANs. An HMAC, because all possible IBANs could be tried
 * against a plain hash. Gateways that share a store must use the same secret.
 */
export function createKeyHash(secret: string): KeyHash {
  return (text) => createHmac('sha256', secret).update(text).digest('base64url');
}
