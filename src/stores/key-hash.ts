import { createHmac } from 'node:crypto';

export type KeyHash = (text: string) => string;

/**
 * Makes keys of texts that nobody may read out of a store, such as IBANs. It is keyed because IBANs are few enough to
 * try them all; whoever shares a store must share the secret.
 */
export function createKeyHash(secret: string): KeyHash {
  return (text) => createHmac('sha256', secret).update(text).digest('base64url');
}
