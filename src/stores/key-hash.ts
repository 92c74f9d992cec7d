import { createHmac } from 'node:crypto';

export type KeyHash = (text: string) => string;

/**
 * Hashes keys that must not be readable in the store, such as IBANs. Keyed, because there are few enough IBANs to try
 * them all; gateways that share a store must share the secret.
 */
export function createKeyHash(secret: string): KeyHash {
  return (text) => createHmac('sha256', secret).update(text).digest('base64url');
}
