import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactSign, type JWTHeaderParameters, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';

const claims = { iss: 'https://issuer.example', aud: 'ledgerquill' };
/** The configuration of the tokens. */
export const jwt = { JWT_ISSUER: claims.iss, JWT_AUDIENCE: claims.aud };
export const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const otherEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
export const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
export const jwkOf = (key: KeyObject, kid: string) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' });

export interface Token extends JWTPayload {
  header?: Partial<JWTHeaderParameters>;
  key?: KeyObject;
  /** Null: without the claim. */
  expiresAt?: string | null;
}

/** A valid token, unless its options differ. */
export function tToken({
  header = {},
  key = ec.privateKey,
  expiresAt = '5m',
  ...payload
}: Token = {}): Promise<string> {
  const token = new SignJWT({ sub: 'anna', scope: 'bank-data', ...claims, ...payload });
  if (expiresAt !== null) token.setExpirationTime(expiresAt);
  return token
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header })
    .setIssuedAt()
    .sign(key, { crit: { custom: true } });
}

/** A valid token, unless these claims differ. Their text may have numbers that JavaScript cannot write, such as 1e999. */
function tTokenOf(changes: string): Promise<string> {
  const text = JSON.stringify({ sub: 'anna', ...claims, exp: now() + 300 }).replace('}', `,${changes}}`);
  return new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(ec.privateKey);
}

const now = () => Math.floor(Date.now() / 1_000);
const hmacOfPublicKey = async () => {
  const [, payload] = (await tToken()).split('.');
  const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
  const signature = createHmac('sha256', pemOf(ec.publicKey)).update(`${header}.${payload}`).digest('base64url');
  return `${header}.${payload}.${signature}`;
};
const unsigned = () => new UnsecuredJWT({ sub: 'anna', ...claims }).setExpirationTime('5m').encode();

/** Tokens that are refused where `ec` is the issuer's key. */
export const invalidTokens: [name: string, create: () => Promise<string> | string][] = [
  ['expired', () => tToken({ exp: now() - 31, expiresAt: null })],
  ['not yet valid', () => tToken({ nbf: now() + 60 })],
  ['without expiry', () => tToken({ expiresAt: null })],
  ['with an infinite expiry', () => tTokenOf('"exp":1e999')],
  ['with an infinite begin', () => tTokenOf('"nbf":-1e999')],
  ['with an infinite time of issue', () => tTokenOf('"iat":1e999')],
  ['with an expiry that is a text', () => tTokenOf('"exp":"9999999999"')],
  ['for another audience', () => tToken({ aud: 'other' })],
  ['for no audience', async () => tToken({ aud: [] })],
  ['of another issuer', () => tToken({ iss: 'https://other.example' })],
  ['signed with another key', () => tToken({ key: otherEc.privateKey })],
  ['signed with another algorithm', () => tToken({ header: { alg: 'RS256' }, key: rsa.privateKey })],
  ['with alg none', unsigned],
  ['with alg none and a signature', async () => `${unsigned()}${(await tToken()).split('.')[2]}`],
  ['with HS256 and the public key', hmacOfPublicKey],
  ['with a critical extension', () => tToken({ header: { crit: ['custom'], custom: 'x' } })],
  [
    'changed',
    async () => (await tToken()).replace(/\..*\./, `.${Buffer.from('{"sub":"eve"}').toString('base64url')}.`),
  ],
  ['without its signature', async () => (await tToken()).replace(/[^.]*$/, '')],
  ['oversize', () => tToken({ note: 'x'.repeat(8_192) })],
  ['without a caller', () => tToken({ sub: '' })],
  ['with a long caller', () => tToken({ sub: 'x'.repeat(257) })],
  ['without content', () => 'a.b.c'],
];
