import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { readConfig } from '../../../src/gateway/config/read-config.ts';
import { ec, jwt, pemOf } from '../../support/gateway/callers.ts';

const hash = 'ab'.repeat(32);
const pem = pemOf(ec.publicKey);
const read = (env: Environment) => readConfig(env).access;

describe('callers', () => {
  it.each([
    [{ GATEWAY_API_KEYS: `shop:${hash}:bank-data` }],
    [{ GATEWAY_API_KEYS_FILE: '/keys.json' }],
    [{ ...jwt, JWT_PUBLIC_KEY: pem }],
    [{ ROUTER_SECRET: 's'.repeat(32) }],
  ])('must be known, and have neither introspection nor GraphiQL, with %j', (env) => {
    expect(read(env)).toMatchObject({ anonymousScopes: null, commonScopes: [] });
    const permitted = { ...env, ANONYMOUS_SCOPES: 'bank-data', INTROSPECTION: 'on', GRAPHIQL: 'on' };
    expect(read(permitted)).toMatchObject({
      anonymousScopes: ['bank-data'],
      commonScopes: ['introspection', 'graphiql'],
    });
  });

  it('have keys and tokens', () => {
    const access = read({
      ...jwt,
      GATEWAY_API_KEYS: `shop:${hash.toUpperCase()}:bank-data+essays, old.shop:${'0'.repeat(64)}:cost`,
      JWT_JWKS_URL: 'https://issuer.example/keys?v=1',
    });
    expect(access.apiKeys).toEqual([
      { name: 'shop', sha256: hash, scopes: ['bank-data', 'essays'], limits: {} },
      { name: 'old.shop', sha256: '0'.repeat(64), scopes: ['cost'], limits: {} },
    ]);
    expect(access.jwt).toEqual({
      keys: { url: 'https://issuer.example/keys?v=1' },
      issuer: 'https://issuer.example',
      audience: 'ledgerquill',
      callerClaim: 'sub',
      scopesClaim: 'scope',
      limitsClaim: null,
    });
  });

  const privateJwk = JSON.stringify(ec.privateKey.export({ format: 'jwk' }));
  const secretJwk = JSON.stringify({ kty: 'oct', k: btoa('secret') });
  const smallRsa = pemOf(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey);
  // More wrong values, with their whole messages, are in wrong-values.test.ts.
  it.each([
    [
      { ...jwt, JWT_PUBLIC_KEY: pem, JWT_JWKS_URL: 'https://issuer.example' },
      'JWT_PUBLIC_KEY: must not be set together',
    ],
    [{ ...jwt, JWT_PUBLIC_KEY: privateJwk }, 'JWT_PUBLIC_KEY: must be a public key, but is a private one'],
    [{ ...jwt, JWT_PUBLIC_KEY: secretJwk }, 'JWT_PUBLIC_KEY: must be a public key in PEM'],
    [{ ...jwt, JWT_PUBLIC_KEY: smallRsa }, 'JWT_PUBLIC_KEY: must have at least 2048 bits'],
  ])('are refused with a reason: %j', (env: Environment, problem) => {
    expect(() => read(env)).toThrow(problem);
  });
});
