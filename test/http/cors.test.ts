import { describe, expect, it } from 'vitest';
import { replyJson, tUpstream } from '../scripted-upstream.ts';
import { tListeningGateway, tSend } from './listening-gateway.ts';

const shop = 'https://shop.example';
const foreign = 'https://foreign.example';
const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const allowOrigin = 'access-control-allow-origin';

describe('a page of a configured origin', () => {
  const env = { CORS_ORIGINS: `${shop},https://b.example`, MAX_BODY_BYTES: '1024' };

  it('reads the answer and its request id', async () => {
    const { post } = await tListeningGateway(env);
    const { headers } = await post({ query: '{ __typename }' }, { origin: shop });
    expect(headers[allowOrigin]).toBe(shop);
    expect(headers['access-control-expose-headers']).toBe('x-request-id');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect(headers.vary).toContain('origin');
  });

  it.each([
    [413, { body: ' '.repeat(2_000), type: 'application/json', accept: '*/*' }],
    [415, { body: '{}', type: 'text/plain', accept: '*/*' }],
    [406, { body: '{}', type: 'application/json', accept: 'text/css' }],
    [400, { body: '{', type: 'application/json', accept: '*/*' }],
  ])('reads why it was refused: %i', async (status, { body, type, accept }) => {
    const { post } = await tListeningGateway(env);
    const refused = await post(body, { origin: shop, 'content-type': type, accept });
    expect(refused.status).toBe(status);
    expect(refused.headers[allowOrigin]).toBe(shop);
    expect(refused.json().errors[0]?.extensions.requestId).toBe(refused.headers['x-request-id']);
  });

  it('asks once in two hours whether it may', async () => {
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

  it('may ask by GET', async () => {
    const upstream = await tUpstream(replyJson(200, { valid: true }));
    const { get } = await tListeningGateway(env, upstream);
    const answer = await get({ query }, { origin: shop, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' });
    expect(answer.json().data).toEqual({ ibanValidation: { valid: true } });
    expect(answer.headers[allowOrigin]).toBe(shop);
  });
});

describe('a page of another origin', () => {
  it.each([
    [foreign, {}],
    [foreign, { CORS_ORIGINS: shop }],
    ['null', { CORS_ORIGINS: shop }],
    [`${shop}.evil.example`, { CORS_ORIGINS: shop }],
  ])('%s reads nothing, with %j', async (origin, env) => {
    const { post, url } = await tListeningGateway(env);
    const answer = await post({ query: '{ __typename }' }, { origin });
    expect(answer.headers[allowOrigin]).toBeUndefined();
    const headers = { origin, 'access-control-request-method': 'POST' };
    const preflight = await tSend(url, { method: 'OPTIONS', headers });
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it.each([
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: foreign },
    { origin: foreign },
    { origin: 'null' },
  ])('spends nothing by GET, sent with %j', async (headers) => {
    const upstream = await tUpstream(replyJson(200, { valid: true }));
    const { get } = await tListeningGateway({ CORS_ORIGINS: shop }, upstream);
    const refused = await get({ query }, headers);
    expect(refused.status).toBe(403);
    expect(refused.json().errors[0]?.extensions.code).toBe('FORBIDDEN');
    expect(upstream.calls).toHaveLength(0);
  });

  it('may do all of it where CORS_ORIGINS is *', async () => {
    const { get } = await tListeningGateway({ CORS_ORIGINS: '*' });
    const answer = await get({ query: '{ __typename }' }, { origin: foreign });
    expect(answer.status).toBe(200);
    expect(answer.headers[allowOrigin]).toBe(foreign);
  });
});

it('lets the gateway’s own pages ask by GET', async () => {
  const { get, origin } = await tListeningGateway();
  expect((await get({ query: '{ __typename }' }, { origin })).status).toBe(200);
});
