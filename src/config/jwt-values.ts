import { createPublicKey, type KeyObject } from 'node:crypto';
import * as z from 'zod';
import { isLoopback } from './loopback.ts';

/** Asymmetric only: with an HMAC algorithm, the public key could be used to sign tokens. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

export const algorithmList = z
  .string()
  .transform((text) => text.split(',').map((item) => item.trim()))
  .refine((items) => items.every((item) => algorithms.includes(item)), `must be of ${algorithms.join(', ')}`)
  .default(algorithms);

/** Without TLS, others could replace the keys on their way. */
export const jwksUrl = z
  .string()
  .refine(isSafeUrl, 'must be an https:// URL without user name and password; http:// only for a loopback address');

/** A public key in PEM or JWK format. */
export const publicKey = z.string().transform((text, context): KeyObject => {
  const key = readPublicKey(text);
  if (typeof key !== 'string') return key;
  context.addIssue(key);
  return z.NEVER;
});

function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  return (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) && !username && !password;
}

/** The key, or what is wrong with it. */
function readPublicKey(text: string): KeyObject | string {
  try {
    const jwk: unknown = text.startsWith('{') ? JSON.parse(text) : null;
    const isPrivate = jwk === null ? text.includes('PRIVATE KEY') : Object.hasOwn(Object(jwk), 'd');
    if (isPrivate) return 'must be a public key, but is a private one';
    // Environment files often have one line per variable.
    const pem = text.replaceAll('\\n', '\n');
    const key = jwk === null ? createPublicKey(pem) : createPublicKey({ key: Object(jwk), format: 'jwk' });
    const { modulusLength = minRsaBits } = key.asymmetricKeyDetails ?? {};
    return modulusLength >= minRsaBits ? key : `must have at least ${minRsaBits} bits`;
  } catch {
    return 'must be a public key in PEM or JWK format';
  }
}

const minRsaBits = 2_048;
