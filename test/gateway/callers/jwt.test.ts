import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ec,
  invalidTokens,
  jwkOf,
  jwt,
  otherEc,
  pemOf,
  rsa,
  type Token,
  tIdentify,
  tToken,
} from '../../support/gateway/callers.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import {
  type Reply,
  replyJson,
  replyNever,
  replyText,
  tUnusedUrl,
  tUpstream,
} from '../../support/scripted-upstream.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));

describe('a token', () => {
  it.each([
    ['ES256', ec],
    ['RS256', rsa],
    ['PS512', rsa],
    ['EdDSA', generateKeyPairSync('ed25519')],
  ])('signed with %s identifies its caller', async (alg, { publicKey, privateKey }) => {
    const pem = pemOf(publicKey);
    for (const text of [pem, pem.replaceAll('\n', '\\n'), JSON.stringify(jwkOf(publicKey, 'k1'))]) {
      const { identifyAndCount } = tIdentify({ ...jwt, JWT_PUBLIC_KEY: text });
      const token = await tToken({ header: { alg }, key: privateKey, scope: 'openid essays bank-data' });
      expect(await identifyAndCount(['authorization', `Bearer ${token}`])).toMatchObject({
        id: 'jwt:anna',
        kind: 'jwt',
        scopes: new Set(['essays', 'bank-data']),
      });
    }
  });

  it.each(invalidTokens)('%s is refused', async (_, create) => {
    const { callerOf } = tIdentify({ ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey) });
    expect(await callerOf(await create())).toBe(401);
    expect(await callerOf(await tToken())).toBe('jwt:anna');
  });

  it.each(['RS256', 'PS256', 'RS512'])('may have any algorithm of its key: %s', async (alg) => {
    const { callerOf } = tIdentify({ ...jwt, JWT_PUBLIC_KEY: pemOf(rsa.publicKey) });
    expect(await callerOf(await tToken({ header: { alg }, key: rsa.privateKey }))).toBe('jwt:anna');
  });

  it('may be expired by the clock skew, and is refused afterwards although it is known', async () => {
    const { callerOf } = tIdentify({ ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey) });
    const token = await tToken({ expiresAt: '20s' });
    for (const seconds of [0, 19, 29]) {
      vi.advanceTimersByTime(seconds * 1_000);
      expect(await callerOf(token)).toBe('jwt:anna');
    }
    vi.advanceTimersByTime(2_000);
    expect(await callerOf(token)).toBe(401);
  });

  it('is verified once a minute', async () => {
    const { identifyAndCount } = tIdentify({ ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey) });
    const headers = ['authorization', `Bearer ${await tToken()}`];
    const first = await identifyAndCount(headers);
    expect(identifyAndCount(headers)).toBe(first);
    vi.advanceTimersByTime(60_000);
    const next = identifyAndCount(headers);
    expect(next).toBeInstanceOf(Promise);
    expect(await next).toEqual(first);
  });

  it('has claims of other names, paths and prefixes', async () => {
    const { identifyAndCount } = tIdentify({
      ...jwt,
      JWT_PUBLIC_KEY: pemOf(ec.publicKey),
      JWT_CALLER_CLAIM: 'https://example.com/client',
      JWT_SCOPES_CLAIM: 'realm_access.roles',
      JWT_LIMITS_CLAIM: 'lq',
      CALLER_REQUESTS_PER_MINUTE: '10',
    });
    const names = {
      'https://example.com/client': 'batch',
      realm_access: { roles: ['ledgerquill:essays', 'other:bank-data', 7] },
    };
    const headers = async (token: Token) => ['authorization', `Bearer ${await tToken({ ...names, ...token })}`];
    expect(await identifyAndCount(await headers({ lq: { essayCalls: '3/day' } }))).toMatchObject({
      id: 'jwt:batch',
      scopes: new Set(['essays']),
      limits: { requestsPerMinute: 10, essayCalls: { calls: 3, period: 'day' } },
    });
    expect(await identifyAndCount(await headers({ lq: { essayCalls: 'all' } }))).toMatchObject({ kind: 'refused' });
    expect(await identifyAndCount(await headers({ realm_access: 'essays' }))).toMatchObject({ scopes: new Set() });
  });

  it('cannot take the name of an API key', async () => {
    const { callerOf } = tIdentify({ ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey) });
    expect(await callerOf(await tToken({ sub: 'api-key:shop' }))).toBe('jwt:api-key:shop');
  });
});

describe("the issuer's key set", () => {
  const first = { keys: [jwkOf(ec.publicKey, 'k1')] };
  const second = { keys: [jwkOf(ec.publicKey, 'k1'), jwkOf(otherEc.publicKey, 'k2')] };

  async function tIssuer(reply = replyJson(200, first)) {
    const issuer = await tUpstream(reply);
    return { issuer, ...tIdentify({ ...jwt, JWT_JWKS_URL: `${issuer.url}/keys` }) };
  }

  it('is read once for all tokens', async () => {
    const { issuer, callerOf } = await tIssuer();
    const tokens = await Promise.all(['anna', 'ben'].map((sub) => tToken({ sub })));
    expect(await Promise.all(tokens.map(callerOf))).toEqual(['jwt:anna', 'jwt:ben']);
    expect(await callerOf(await tToken({ sub: 'carla' }))).toBe('jwt:carla');
    expect(issuer.calls.map(({ path }) => path)).toEqual(['/keys']);
  });

  it('is read again for an unknown key id, at most every 10 seconds', async () => {
    const { issuer, callerOf } = await tIssuer();
    expect(await callerOf(await tToken())).toBe('jwt:anna');
    const token = await tToken({ header: { kid: 'k2' }, key: otherEc.privateKey });
    issuer.answers(replyJson(200, second));
    for (let count = 0; count < 3; count += 1) expect(await callerOf(token)).toBe(401);
    expect(issuer.calls).toHaveLength(1);
    vi.advanceTimersByTime(10_000);
    expect(await callerOf(token)).toBe('jwt:anna');
    expect(await callerOf(await tToken({ header: { kid: 'k3' } }))).toBe(401);
    expect(issuer.calls).toHaveLength(2);
  });

  it('remains in use while the issuer fails', async () => {
    const { issuer, callerOf, events } = await tIssuer();
    expect(await callerOf(await tToken())).toBe('jwt:anna');
    issuer.answers(replyText(503, 'down'));
    vi.advanceTimersByTime(3_600_000);
    expect(await callerOf(await tToken({ sub: 'ben' }))).toBe('jwt:ben');
    await expect.poll(() => events).toEqual([['keySetUnavailable', 'status 503']]);
    expect(await callerOf(await tToken({ sub: 'carla' }))).toBe('jwt:carla');
    expect(issuer.calls).toHaveLength(2);
    issuer.answers(replyJson(200, { keys: [jwkOf(otherEc.publicKey, 'k2')] }));
    vi.advanceTimersByTime(10_000);
    expect(await callerOf(await tToken({ header: { kid: 'k2' }, key: otherEc.privateKey }))).toBe('jwt:anna');
    // A key that the issuer no longer lists is withdrawn.
    expect(await callerOf(await tToken({ sub: 'dora' }))).toBe(401);
  });

  const unusable = 'no public key for signatures';
  const encrypting = { ...jwkOf(ec.publicKey, 'k1'), use: 'enc' };
  const broken = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'k0' };
  const secret = { kty: 'oct', k: btoa('secret'), kid: 'k1', alg: 'HS256' };
  const useless: [name: string, Reply, reason: string][] = [
    ['fails', replyText(500, 'error'), 'status 500'],
    ['redirects', replyText(302, '', { location: 'https://example.com/keys' }), 'status 302'],
    ['sends no JSON', replyText(200, '<html>'), 'not a JSON Web Key Set'],
    ['sends no key set', replyJson(200, {}), 'not a JSON Web Key Set'],
    ['sends null', replyJson(200, null), 'not a JSON Web Key Set'],
    ['sends keys that are no list', replyJson(200, { keys: { k1: broken } }), 'not a JSON Web Key Set'],
    ['sends too much', replyText(200, ' '.repeat(1_000_001)), 'UND_ERR_RES_EXCEEDED_MAX_SIZE'],
    ['sends an empty key set', replyJson(200, { keys: [] }), unusable],
    ['sends only broken keys', replyJson(200, { keys: [null, 'k1', [], {}, broken] }), unusable],
    ['sends a secret', replyJson(200, { keys: [secret] }), unusable],
    ['sends a private key', replyJson(200, { keys: [jwkOf(ec.privateKey, 'k1')] }), unusable],
    ['sends a key for encryption', replyJson(200, { keys: [encrypting] }), unusable],
  ];

  it.each(useless)('of an issuer that %s is missing: no token can be verified for 10 s', async (_, reply, reason) => {
    const { issuer, callerOf, events } = await tIssuer(reply);
    expect(await callerOf(await tToken())).toBe('503, retry after 10 s');
    vi.advanceTimersByTime(8_500);
    expect(await callerOf(await tToken())).toBe('503, retry after 2 s');
    expect(await callerOf('a.b.c')).toBe(401);
    expect(events).toEqual([['keySetUnavailable', reason]]);
    issuer.answers(replyJson(200, first));
    vi.advanceTimersByTime(1_500);
    expect(await callerOf(await tToken())).toBe('jwt:anna');
    expect(issuer.calls).toHaveLength(2);
  });

  it.each(useless)('of an issuer that later %s is not replaced', async (_, reply, reason) => {
    const { issuer, callerOf, events } = await tIssuer();
    expect(await callerOf(await tToken())).toBe('jwt:anna');
    issuer.answers(reply);
    vi.advanceTimersByTime(3_600_000);
    expect(await callerOf(await tToken({ header: { kid: 'k2' }, key: otherEc.privateKey }))).toBe(401);
    expect(events).toEqual([['keySetUnavailable', reason]]);
    expect(await callerOf(await tToken({ sub: 'ben' }))).toBe('jwt:ben');
  });

  it('may have keys that cannot be used besides good ones', async () => {
    const keys = [null, 'k1', broken, secret, { ...encrypting, kid: 'k3' }, ...first.keys];
    const { callerOf, events } = await tIssuer(replyJson(200, { keys }));
    expect(await callerOf(await tToken())).toBe('jwt:anna');
    for (const kid of ['k0', 'k3']) expect(await callerOf(await tToken({ header: { kid } }))).toBe(401);
    expect(events).toEqual([]);
  });

  it('of an issuer that is down is missing: no token can be verified', async () => {
    const { callerOf, events } = tIdentify({ ...jwt, JWT_JWKS_URL: await tUnusedUrl() });
    expect(await callerOf(await tToken())).toBe('503, retry after 10 s');
    expect(events).toEqual([['keySetUnavailable', 'ECONNREFUSED']]);
  });

  it('that cannot be read is shown by /ready and a metric until it can, without a token', async () => {
    const issuer = await tUpstream(replyText(503, 'down'));
    const env = { ...jwt, JWT_JWKS_URL: `${issuer.url}/keys`, METRICS_PORT: '0' };
    const { origin, metricsUrl } = await tListeningGateway(env);
    const isUp = async () => (await scrape(metricsUrl())).value('ledgerquill_issuer_up');
    const readiness = async () => (await fetch(`${origin}/ready`)).json();
    await expect.poll(readiness).toMatchObject({ status: 'ready', issuer: 'down' });
    issuer.answers(replyJson(200, first));
    expect([await readiness(), await isUp()]).toMatchObject([{ issuer: 'down' }, 0]);
    expect(issuer.calls).toHaveLength(1);
    vi.advanceTimersByTime(10_000);
    await expect.poll(readiness).toEqual({ status: 'ready' });
    expect([issuer.calls.length, await isUp()]).toEqual([2, 1]);
  });

  it('is awaited for at most 500 ms for an unknown key id, while the issuer hangs', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout'] });
    const { issuer, callerOf, events } = await tIssuer();
    expect(await callerOf(await tToken())).toBe('jwt:anna');
    vi.advanceTimersByTime(10_000);
    issuer.answers(replyNever);
    const arrived = issuer.nextCall();
    const unknown = await tToken({ header: { kid: 'k2' }, key: otherEc.privateKey });
    const refusals = Promise.all([callerOf(unknown), callerOf(unknown)]);
    await arrived;
    await vi.advanceTimersByTimeAsync(500);
    expect(await refusals).toEqual([401, 401]);
    // The request to the issuer has not ended.
    expect(events).toEqual([]);
    expect(await callerOf(await tToken({ sub: 'ben' }))).toBe('jwt:ben');
    expect(issuer.calls).toHaveLength(2);
  });
});
