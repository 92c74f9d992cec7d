import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../support/auth/identify.ts';
import { ec, invalidTokens, jwkOf, jwt, tToken } from '../support/auth/token.ts';
import { as, keyOf, tCallers, ways } from '../support/http/callers.ts';
import { type Received, type SendHeaders, tSend } from '../support/http/listening-gateway.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const answer = { data: { ibanValidation: { valid: true } } };
const key = keyOf('shop');
const bearer = `Bearer ${key}`;

const tShop = (env = {}) => tCallers({ callers: { shop: 'bank-data', bank: 'bank-data' }, env });

/** A refusal in the format of GraphQL errors, which no cache stores. */
function expectRefusal({ status, headers, json }: Received, challenge: string): void {
  expect(status).toBe(401);
  expect(headers).toMatchObject({ 'www-authenticate': challenge, 'cache-control': 'no-store' });
  const { message } = json().errors[0] ?? { message: '' };
  const requestId = headers['x-request-id'];
  const extensions = { code: 'UNAUTHENTICATED', service: null, retryable: false, requestId };
  expect(json()).toEqual({ errors: [{ message, extensions }] });
  expect(message).toBe(challenge === missing ? missingMessage : 'The credentials are not valid.');
}

const missing = 'Bearer';
const missingMessage = 'The request needs an API key or a token, as authorization: Bearer or as x-api-key.';
const invalid = 'Bearer error="invalid_token"';

describe.each(ways)('a request that is answered %s', (way) => {
  it.each<SendHeaders>([{ authorization: bearer }, { authorization: `bearer ${key}` }, { 'X-API-Key': key }])(
    'is executed with %j',
    async (headers) => {
      const { send } = await tShop();
      await send(way, { query }, headers);
      // The second time, the key is known.
      const received = await send(way, { query }, { 'x-unknown': key, ...headers });
      expect(received.json()).toEqual(answer);
      expect(received.headers['cache-control']).toMatch(/^private, max-age=/);
      const vary = received.headers.vary?.split(', ');
      expect(vary).toEqual(expect.arrayContaining(['authorization', 'x-api-key']));
    },
  );

  it.each<[SendHeaders, string]>([
    [{}, missing],
    [{ cookie: `session=${key}` }, missing],
    [{ authorization: `${bearer}x` }, invalid],
    [{ authorization: `Bearer ${sha256(key)}` }, invalid],
    [{ 'x-api-key': key.slice(0, -1) }, invalid],
    [{ authorization: 'Bearer ' }, invalid],
    [{ authorization: `Basic ${Buffer.from(`shop:${key}`).toString('base64')}` }, invalid],
    [{ authorization: key }, invalid],
    [{ authorization: ` ${bearer},${bearer}` }, invalid],
    [{ authorization: [bearer, bearer] }, invalid],
    [{ 'x-api-key': '' }, invalid],
    [{ 'x-api-key': [key, 'other'] }, invalid],
    [{ 'x-api-key': ['other', key] }, invalid],
    [{ authorization: bearer, 'x-api-key': key }, invalid],
    [{ authorization: `Bearer ${'x'.repeat(8_193)}` }, invalid],
  ])('is refused with %j', async (headers, challenge) => {
    const { send, upstream, log } = await tShop();
    expectRefusal(await send(way, { query }, headers), challenge);
    expect(upstream.calls).toEqual([]);
    expect(log()).not.toContain(key);
  });

  it('beyond the limit of its caller is refused with the time to wait, and others are not', async () => {
    const { send, upstream } = await tShop({ CALLER_REQUESTS_PER_MINUTE: '2' });
    for (let count = 0; count < 2; count += 1) expect((await send(way, { query }, as('shop'))).status).toBe(200);
    const refused = await send(way, { query }, as('shop'));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    const requestId = refused.headers['x-request-id'];
    const extensions = { code: 'RATE_LIMITED', service: null, retryable: true, requestId };
    const message = expect.stringMatching(/^This caller has sent its requests of this minute; retry in \d+ s\.$/);
    expect(refused.json().errors).toEqual([{ message, extensions }]);
    expect((await send(way, { query }, as('bank'))).json()).toEqual(answer);
    expect(upstream.calls).toHaveLength(1);
  });

  it('is executed with a token of the issuer, and refused with any other token', async () => {
    const issuer = await tUpstream(replyJson(200, { keys: [jwkOf(ec.publicKey, 'k1')] }));
    const { send, upstream } = await tShop({ ...jwt, JWT_JWKS_URL: `${issuer.url}/keys` });
    const sendToken = (token: string) => send(way, { query }, { authorization: `Bearer ${token}` });
    for (const [, create] of invalidTokens) expectRefusal(await sendToken(await create()), invalid);
    expectRefusal(await sendToken(await tToken({ header: { kid: 'unknown' } })), invalid);
    expect(upstream.calls).toEqual([]);
    expect(issuer.calls).toHaveLength(1);
    expect((await sendToken(await tToken())).json()).toEqual(answer);
    expect((await send(way, { query }, { 'x-api-key': await tToken() })).json()).toEqual(answer);
  });

  it('with a token is asked to retry while the keys of the issuer could not be read', async () => {
    const issuer = await tUpstream(replyJson(503, {}));
    const { send, upstream, log } = await tShop({ ...jwt, JWT_JWKS_URL: `${issuer.url}/keys` });
    const token = await tToken();
    const { status, headers, json } = await send(way, { query }, { authorization: `Bearer ${token}` });
    expect([status, headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    const extensions = {
      code: 'ISSUER_UNAVAILABLE',
      service: null,
      retryable: true,
      requestId: headers['x-request-id'],
    };
    const message = expect.stringMatching(
      /^The gateway could not read the keys of the token issuer, .* retry in \d+ s\.$/,
    );
    expect(json().errors).toEqual([{ message, extensions }]);
    expect(upstream.calls).toEqual([]);
    expect(log()).not.toContain(token);
    expect((await send(way, { query }, as('shop'))).json()).toEqual(answer);
  });

  it('is one of the router if its query and variables are signed', async () => {
    const { send, upstream } = await tShop({ ROUTER_SECRET: routerSecret });
    const variables = { i: 'DE1' };
    const signed = sign({ query: 'query ($i: String!) { ibanValidation(iban: $i) { valid } }', variables });
    expect((await send(way, signed)).json()).toEqual({ data: { ibanValidation: { valid: false } } });
    expectRefusal(await send(way, { ...signed, query }), invalid);
    expectRefusal(await send(way, { ...signed, variables: { i: 'DE2' } }), invalid);
    expectRefusal(await send(way, { query, extensions: { 'hmac-signature': 7 } }), invalid);
    expectRefusal(await send(way, { query }), missing);
    // A caller with a key needs no signature, and a signature does not replace a wrong key.
    expect((await send(way, { query }, as('shop'))).json()).toEqual(answer);
    expectRefusal(await send(way, signed, { 'x-api-key': 'other' }), invalid);
    expect(upstream.calls).toHaveLength(1);
  });

  it('is anonymous and limited without a signature, where that is permitted', async () => {
    const limits = { ANONYMOUS_SCOPES: 'bank-data', CALLER_REQUESTS_PER_MINUTE: '1' };
    const { send } = await tShop({ ROUTER_SECRET: routerSecret, ...limits });
    expect((await send(way, { query })).json()).toEqual(answer);
    expect((await send(way, { query })).status).toBe(429);
    expectRefusal(await send(way, { query, extensions: { 'hmac-signature': 'x' } }), invalid);
  });
});

const routerSecret = 'seeded-router-secret-of-32-chars';

/** As Hive Gateway does it. */
function sign(question: { query: string; variables?: object }) {
  const signature = createHmac('sha256', routerSecret).update(JSON.stringify(question)).digest('base64');
  return { ...question, extensions: { 'hmac-signature': signature } };
}

describe('a signature in a URL', () => {
  it.each([
    ['query', '{ countries { code } }'],
    ['variables', '{"i":"DE2"}'],
    ['extensions', '{}'],
  ])('is not valid for a second parameter: %s', async (name, value) => {
    const { url, upstream } = await tShop({ ROUTER_SECRET: routerSecret });
    const signed = sign({ query, variables: { i: 'DE1' } });
    const params = (['variables', 'extensions'] as const).map((field) => [field, JSON.stringify(signed[field])]);
    const search = new URLSearchParams([[name, value], ['query', signed.query], ...params]);
    const { status } = await tSend(`${url}?${search}`, { headers: { 'graphql-require-preflight': 'true' } });
    expect(status).toBe(401);
    expect(upstream.calls).toEqual([]);
  });
});

/** Sends the header of a request. @returns the response that begins before its body */
async function begin(url: string, headers: SendHeaders, onContinue = (_: ClientRequest) => {}) {
  const sent = request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    agent: false,
  });
  sent.on('continue', () => onContinue(sent));
  sent.on('error', () => {}).flushHeaders();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { sent, response };
}

describe('a request without a caller', () => {
  it.each<SendHeaders>([{}, { 'x-api-key': 'wrong' }])('is refused before its body arrives: %j', async (headers) => {
    const { url, upstream } = await tShop();
    const { response, sent } = await begin(url, { 'content-length': '100000', ...headers });
    expect(response.statusCode).toBe(401);
    sent.destroy();
    expect(upstream.calls).toEqual([]);
  });

  it('is not asked for the body that it offers, and its connection is not used again', async () => {
    const { url, upstream } = await tShop();
    const body = JSON.stringify({ query });
    const offer = async (headers: SendHeaders) => {
      let asked = 0;
      const onContinue = (sent: ClientRequest) => {
        asked += 1;
        sent.end(body);
      };
      const length = { expect: '100-continue', 'content-length': String(body.length) };
      const { response, sent } = await begin(url, { ...length, ...headers }, onContinue);
      const text = Buffer.concat(await response.toArray()).toString();
      sent.destroy();
      return { status: response.statusCode, connection: response.headers.connection, asked, text };
    };
    const refused = { asked: 0, connection: 'close' };
    expect(await offer({})).toMatchObject({ status: 401, ...refused });
    expect(await offer({ ...as('shop'), 'content-type': 'text/plain' })).toMatchObject({ status: 415, ...refused });
    expect(await offer({ ...as('shop'), 'content-length': '2000000' })).toMatchObject({ status: 413, ...refused });
    expect(upstream.calls).toEqual([]);
    const { status, asked, text } = await offer(as('shop'));
    expect([status, asked, JSON.parse(text)]).toEqual([200, 1, answer]);
  });

  it('is refused before its type and method are checked', async () => {
    const { url, post } = await tShop();
    for (const method of ['PUT', 'DELETE', 'HEAD', 'PATCH']) expect((await tSend(url, { method })).status).toBe(401);
    expectRefusal(await post('x', { 'content-type': 'text/plain', accept: 'text/css' }), missing);
  });

  it('can check health and readiness, under any host name', async () => {
    const { origin } = await tShop();
    const get = async (path: string) => (await tSend(origin + path, { headers: { host: '10.0.0.5' } })).json();
    expect([await get('/health'), await get('/ready')]).toEqual([{ status: 'alive' }, { status: 'ready' }]);
  });

  it('is anonymous where that is permitted, but not with wrong credentials', async () => {
    const { post } = await tShop({ ANONYMOUS_SCOPES: 'bank-data' });
    expect((await post({ query })).json()).toEqual(answer);
    expectRefusal(await post({ query }, { 'x-api-key': 'wrong' }), invalid);
    expect((await post({ query: '{ essay(id: "1") { text } }' })).json().errors[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('a page of an allowed origin', () => {
  const origin = 'https://shop.example';

  it('can send a preflight without credentials, and then the key, and can read why it is refused', async () => {
    const { url, post } = await tShop({ CORS_ORIGINS: origin, CALLER_REQUESTS_PER_MINUTE: '1' });
    const method = { 'access-control-request-method': 'POST' };
    const headers = { origin, ...method, 'access-control-request-headers': 'authorization,content-type' };
    const preflight = await tSend(url, { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers['access-control-allow-headers']).toBe('authorization,content-type');
    const sent = [await post({ query }, { origin, ...as('shop') }), await post({ query }, { origin, ...as('shop') })];
    const received = [...sent, await post({ query }, { origin })];
    expect(received.map(({ status }) => status)).toEqual([200, 429, 401]);
    for (const { headers } of received) {
      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-expose-headers': 'x-request-id, retry-after, www-authenticate',
      });
    }
  });
});
