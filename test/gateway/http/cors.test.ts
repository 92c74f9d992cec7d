import { describe, expect, it } from 'vitest';
import { mcpHeaders, paths } from '../../support/gateway/callers.ts';
import { graphqlMethods, tListeningGateway, tSend } from '../../support/gateway/http/listening-gateway.ts';

const shop = 'https://shop.example';
const foreign = 'https://foreign.example';
const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const allowOrigin = 'access-control-allow-origin';

describe('a page of a configured origin', () => {
  const env = { CORS_ORIGINS: `${shop},https://b.example` };

  it('can read the response and its request id', async () => {
    const { post } = await tListeningGateway(env);
    const { headers } = await post({ query: '{ __typename }' }, { origin: shop });
    expect(headers[allowOrigin]).toBe(shop);
    expect(headers['access-control-expose-headers']).toBe(
      'x-request-id, retry-after, www-authenticate, outdated-bank-lists',
    );
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect(headers.vary).toContain('origin');
  });

  const errors: readonly [status: number, body: string, headers: Record<string, string>][] = [
    [413, ' '.repeat(1_000_001), {}],
    [415, '{}', { 'content-type': 'text/plain' }],
    [406, '{}', { accept: 'text/css' }],
    [400, '{', {}],
  ];
  const cases = paths.flatMap((path) => errors.map(([status, body, headers]) => ({ path, status, body, headers })));
  // The Accept header of agents is read by their protocol.
  it.each(cases.filter(({ path, status }) => path === '/graphql' || status !== 406))(
    'can read the error of $path: $status',
    async ({ path, status, body, headers }) => {
      const { origin } = await tListeningGateway(env);
      const sent = { ...mcpHeaders, origin: shop, ...headers };
      const rejected = await tSend(origin + path, { method: 'POST', body, headers: sent });
      expect(rejected.status).toBe(status);
      expect(rejected.headers[allowOrigin]).toBe(shop);
      expect(rejected.json().errors[0]?.extensions.requestId).toBe(rejected.headers['x-request-id']);
    },
  );

  it('sends a preflight once in two hours', async () => {
    const { url } = await tListeningGateway(env);
    const method = { 'access-control-request-method': 'POST' };
    const headers = { origin: shop, ...method, 'access-control-request-headers': 'content-type,x-cost' };
    const preflight = await tSend(url, { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      [allowOrigin]: shop,
      'access-control-allow-methods': graphqlMethods,
      'access-control-allow-headers': 'content-type,x-cost',
      'access-control-max-age': '7200',
      'content-length': '0',
    });
  });

  it('may send a GET', async () => {
    const { get } = await tListeningGateway(env);
    // As Apollo Client sends it.
    const client = { 'content-type': 'application/json', 'graphql-require-preflight': '' };
    const browser = { origin: shop, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    const response = await get({ query }, { ...client, ...browser });
    expect(response.json().data).toEqual({ ibanValidation: { valid: true } });
    expect(response.headers[allowOrigin]).toBe(shop);
  });
});

describe('a page of another origin', () => {
  it.each([
    [foreign, {}],
    [foreign, { CORS_ORIGINS: shop }],
    ['null', { CORS_ORIGINS: shop }],
    [`${shop}.evil.example`, { CORS_ORIGINS: shop }],
  ])('%s cannot read responses, with %j', async (origin, env) => {
    const { post, url } = await tListeningGateway(env);
    const response = await post({ query: '{ __typename }' }, { origin });
    expect(response.headers[allowOrigin]).toBeUndefined();
    const headers = { origin, 'access-control-request-method': 'POST' };
    const preflight = await tSend(url, { method: 'OPTIONS', headers });
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('is named in one line of the log per minute, with the variable that would allow it', async () => {
    const { url, log } = await tListeningGateway({ CORS_ORIGINS: shop });
    const preflight = (origin: string) =>
      tSend(url, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    const lines = () => log().match(/.*CORS_ORIGINS.*/g) ?? [];
    for (const origin of [shop, new URL(url).origin]) await preflight(origin);
    expect(lines()).toEqual([]);
    for (const origin of [foreign, foreign, 'https://other.example']) await preflight(origin);
    expect(lines().map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 40,
        origin: foreign,
        msg: 'a page may not call the gateway: to allow it, add its origin to CORS_ORIGINS',
      },
    ]);
  });

  it('is cut in the log, and what looks like an IBAN is redacted', async () => {
    const { url, log } = await tListeningGateway();
    const origin = `https://DE89370400440532013000.example/${'x'.repeat(1_000)}`;
    await tSend(url, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    expect(log()).toContain('"origin":"https://[IBAN]');
    expect(log()).not.toContain('x'.repeat(300));
  });

  it('is allowed if CORS_ORIGINS is *', async () => {
    const { get } = await tListeningGateway({ CORS_ORIGINS: '*' });
    const response = await get({ query: '{ __typename }' }, { origin: foreign });
    expect(response.status).toBe(200);
    expect(response.headers[allowOrigin]).toBe(foreign);
  });
});

describe('a GET, which any page can cause without a preflight,', () => {
  const get = async (headers: Record<string, string>, env = {}) => {
    const { url, upstream } = await tListeningGateway(env);
    const received = await tSend(`${url}?${new URLSearchParams({ query })}`, {
      headers: { ...headers, ...(headers.origin === 'own' && { origin: new URL(url).origin }) },
    });
    return { ...received, calls: upstream.calls };
  };
  const preflight = { 'graphql-require-preflight': 'true' };

  it.each<Record<string, string>>([
    { 'content-type': 'application/json' },
    { 'content-type': 'Application/JSON;charset=utf-8' },
    preflight,
    { 'apollo-require-preflight': 'true' },
    { 'x-apollo-operation-name': 'Valid' },
    { 'x-graphql-yoga-csrf': '1' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { ...preflight, origin: 'own' },
  ])('is executed with %j', async (headers) => {
    expect((await get(headers)).json().data).toEqual({ ibanValidation: { valid: true } });
  });

  const noHeader = 'GET requires the header graphql-require-preflight: true or content-type: application/json.';
  const noOrigin = 'Pages of this origin may not send GET requests; the operator can add it to CORS_ORIGINS.';
  it.each<[Record<string, string>, message: string]>([
    [{}, noHeader],
    [{ 'graphql-require-preflight': '' }, noHeader],
    [{ 'content-type': 'text/plain' }, noHeader],
    [{ 'content-type': 'text/plain;a=application/json' }, noHeader],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, noHeader],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: shop }, noHeader],
    [{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, noHeader],
    [{ 'sec-fetch-site': 'same-origin, cross-site' }, noHeader],
    [{ ...preflight, 'sec-fetch-site': 'cross-site', origin: foreign }, noOrigin],
    [{ ...preflight, origin: foreign }, noOrigin],
    [{ ...preflight, origin: 'null' }, noOrigin],
  ])('is not executed with %j', async (headers, message) => {
    const { status, json, calls } = await get(headers, { CORS_ORIGINS: shop });
    expect(status).toBe(403);
    expect(json().errors[0]).toMatchObject({ message, extensions: { code: 'FORBIDDEN' } });
    expect(calls).toHaveLength(0);
  });
});
