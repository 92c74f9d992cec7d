import { describe, expect, it } from 'vitest';
import { tListeningGateway, tSend, tValidatingGateway } from '../support/http/listening-gateway.ts';

const shop = 'https://shop.example';
const foreign = 'https://foreign.example';
const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const allowOrigin = 'access-control-allow-origin';

describe('a page of a configured origin', () => {
  const env = { CORS_ORIGINS: `${shop},https://b.example`, MAX_BODY_BYTES: '1024' };

  it('can read the response and its request id', async () => {
    const { post } = await tListeningGateway(env);
    const { headers } = await post({ query: '{ __typename }' }, { origin: shop });
    expect(headers[allowOrigin]).toBe(shop);
    expect(headers['access-control-expose-headers']).toBe('x-request-id, retry-after, www-authenticate');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect(headers.vary).toContain('origin');
  });

  it.each([
    [413, { body: ' '.repeat(2_000), type: 'application/json', accept: '*/*' }],
    [415, { body: '{}', type: 'text/plain', accept: '*/*' }],
    [406, { body: '{}', type: 'application/json', accept: 'text/css' }],
    [400, { body: '{', type: 'application/json', accept: '*/*' }],
  ])('can read the error: %i', async (status, { body, type, accept }) => {
    const { post } = await tListeningGateway(env);
    const rejected = await post(body, { origin: shop, 'content-type': type, accept });
    expect(rejected.status).toBe(status);
    expect(rejected.headers[allowOrigin]).toBe(shop);
    expect(rejected.json().errors[0]?.extensions.requestId).toBe(rejected.headers['x-request-id']);
  });

  it('sends a preflight once in two hours', async () => {
    const { url } = await tListeningGateway(env);
    const headers = {
      origin: shop,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-cost',
    };
    const preflight = await tSend(url, { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      [allowOrigin]: shop,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'content-type,x-cost',
      'access-control-max-age': '7200',
      'content-length': '0',
    });
  });

  it('may send a GET', async () => {
    const { get } = await tValidatingGateway(env);
    const response = await get({ query }, { origin: shop, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' });
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

  it.each([{ 'sec-fetch-site': 'cross-site', origin: foreign }, { origin: foreign }, { origin: 'null' }])(
    'cannot cause upstream calls by a GET with %j',
    async (headers) => {
      const { get, upstream } = await tValidatingGateway({ CORS_ORIGINS: shop });
      const rejected = await get({ query }, headers);
      expect(rejected.status).toBe(403);
      expect(rejected.json().errors[0]).toMatchObject({
        message: 'Pages of this origin may not send GET requests; the operator can add it to CORS_ORIGINS.',
        extensions: { code: 'FORBIDDEN' },
      });
      expect(upstream.calls).toHaveLength(0);
    },
  );

  it('is allowed if CORS_ORIGINS is *', async () => {
    const { get } = await tListeningGateway({ CORS_ORIGINS: '*' });
    const response = await get({ query: '{ __typename }' }, { origin: foreign });
    expect(response.status).toBe(200);
    expect(response.headers[allowOrigin]).toBe(foreign);
  });
});

it('allows a GET from the gateway’s own pages', async () => {
  const { get, origin } = await tListeningGateway();
  expect((await get({ query: '{ __typename }' }, { origin })).status).toBe(200);
});

describe('a GET, which any page can cause without a preflight,', () => {
  it.each<Record<string, string>>([
    { 'content-type': 'application/json' },
    { 'content-type': 'Application/JSON;charset=utf-8' },
    { 'apollo-require-preflight': 'true' },
    { 'x-apollo-operation-name': 'Valid' },
    { 'x-graphql-yoga-csrf': '1' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ])('is executed with %j', async (headers) => {
    const { url } = await tValidatingGateway();
    const response = await tSend(`${url}?${new URLSearchParams({ query })}`, { headers });
    expect(response.json().data).toEqual({ ibanValidation: { valid: true } });
  });

  it.each<Record<string, string>>([
    {},
    { 'apollo-require-preflight': '' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'text/plain;a=application/json' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: shop },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-origin, cross-site' },
  ])('is not executed with %j', async (headers) => {
    const { url, upstream } = await tValidatingGateway({ CORS_ORIGINS: shop });
    const rejected = await tSend(`${url}?${new URLSearchParams({ query })}`, { headers });
    expect(rejected.status).toBe(403);
    expect(rejected.json().errors[0]).toMatchObject({
      message: 'GET requires the header content-type: application/json or apollo-require-preflight: true.',
      extensions: { code: 'FORBIDDEN' },
    });
    expect(upstream.calls).toHaveLength(0);
  });
});
