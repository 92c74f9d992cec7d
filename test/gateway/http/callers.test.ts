import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  as,
  ec,
  invalidTokens,
  jwkOf,
  jwt,
  keyOf,
  mcpHeaders,
  paths,
  sha256,
  tCallers,
  tToken,
  ways,
  waysAndTool,
} from '../../support/gateway/callers.ts';
import { type Received, type SendHeaders, tSend } from '../../support/gateway/http/listening-gateway.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

const iban = 'DE89370400440532013000';
const query = `{ ibanValidation(iban: "${iban}") { valid } }`;
const answer = { data: { ibanValidation: { valid: true } } };
const key = keyOf('shop');
const bearer = `Bearer ${key}`;

const tShop = (env = {}) =>
  tCallers({ callers: { shop: 'bank-data', bank: 'bank-data' }, env: { MCP_CONSENT: 'never', ...env } });

/** A refusal in the format of GraphQL errors, which no cache stores. */
function expectRefusal({ status, headers, json }: Received, challenge: string): void {
  expect(status).toBe(401);
  expect(headers['cache-control']).toBe('no-store');
  // Agents find the issuer of tokens by it.
  expect(headers['www-authenticate']?.split(/,? resource_metadata=/)[0]).toBe(challenge);
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

  it('is refused with a wrong signature of a router', async () => {
    const { send } = await tShop({ ROUTER_SECRET: routerSecret, ANONYMOUS_SCOPES: 'bank-data' });
    expectRefusal(await send(way, { query }, { 'x-router-signature': 'x' }), invalid);
  });
});

describe.each(waysAndTool)('a request that is answered %s', (way) => {
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

  it('is anonymous and limited without a signature, where that is permitted', async () => {
    const limits = { ANONYMOUS_SCOPES: 'bank-data', CALLER_REQUESTS_PER_MINUTE: '1' };
    const { send } = await tShop({ ROUTER_SECRET: routerSecret, ...limits });
    expect((await send(way, { query })).json()).toEqual(answer);
    expect((await send(way, { query })).status).toBe(429);
  });
});

const routerSecret = 'seeded-router-secret-of-32-chars';

const sign = (content: string) => ({
  'x-router-signature': `sha256=${createHmac('sha256', routerSecret).update(content).digest('hex')}`,
});

describe('a request of a router', () => {
  const two = 'query A { ibanValidation(iban: "DE1") { valid } } query B { ibanValidation(iban: "DE2") { valid } }';
  const body = JSON.stringify({ query: two, variables: {}, operationName: 'A' });

  it('is executed if the bytes of its body are signed, and refused with any change of them', async () => {
    const { post, upstream } = await tShop({ ROUTER_SECRET: routerSecret });
    expect((await post(body, sign(body))).json()).toEqual({ data: { ibanValidation: { valid: false } } });
    const changes = [
      body.replace('"A"}', '"B"}'),
      body.replace('{},', '{"i":1},'),
      body.replace('DE1', 'DE3'),
      `${body} `,
    ];
    for (const changed of changes) expectRefusal(await post(changed, sign(body)), invalid);
    expectRefusal(await post(body), missing);
    expect(upstream.calls).toEqual([]);
  });

  it('is executed if the query of its URL is signed, and refused with any change of it', async () => {
    const { url } = await tShop({ ROUTER_SECRET: routerSecret });
    const search = String(new URLSearchParams({ query: two, operationName: 'A' }));
    const get = (search: string, headers: SendHeaders) =>
      tSend(`${url}?${search}`, { headers: { 'graphql-require-preflight': 'true', ...headers } });
    expect((await get(search, sign(search))).json()).toEqual({ data: { ibanValidation: { valid: false } } });
    expectRefusal(await get(search.replace('=A', '=B'), sign(search)), invalid);
    expectRefusal(await get(`operationName=B&${search}`, sign(search)), invalid);
    expectRefusal(await get(search, {}), missing);
  });

  it('has one signature, and the credentials of a caller are checked instead', async () => {
    const { post } = await tShop({ ROUTER_SECRET: routerSecret });
    const { 'x-router-signature': signature } = sign(body);
    expectRefusal(await post(body, { 'x-router-signature': [signature, signature] }), invalid);
    expectRefusal(await post(body, { ...sign(body), 'x-api-key': 'other' }), invalid);
    expect((await post(body, { ...sign(`${body} `), ...as('shop') })).status).toBe(200);
  });

  it('is refused before its body arrives if it is not signed', async () => {
    const { url } = await tShop({ ROUTER_SECRET: routerSecret });
    const { response, sent } = await begin(url, { 'content-length': '900000' });
    expect(response.statusCode).toBe(401);
    sent.destroy();
  });

  it.each([
    ['is not JSON', '{'],
    ['has too many levels', `{"variables":${'['.repeat(20_000)}`],
    ['has too many parts', JSON.stringify({ variables: Array.from({ length: 60_000 }, () => ({})) })],
  ])('is refused for its signature before its body is parsed, which %s', async (_, body) => {
    const { post } = await tShop({ ROUTER_SECRET: routerSecret });
    expectRefusal(await post(body, sign('other')), invalid);
    const signed = await post(body, sign(body));
    expect([signed.status, signed.json().errors[0]?.extensions.code]).toEqual([400, expect.stringMatching(/^BAD_/)]);
  });

  it('does not have a file checked: its signature covers no part of it', async () => {
    const { origin } = await tShop({ ROUTER_SECRET: routerSecret });
    const { status, json } = await tSend(`${origin}/check`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', ...sign('') },
      body: 'iban\nDE89370400440532013000\n',
    });
    expect(status).toBe(401);
    expect(json().errors[0]?.message).toMatch(/API key or a token/);
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

describe.each(paths)('a request of %s without a caller', (path) => {
  it.each<SendHeaders>([{}, { 'x-api-key': 'wrong' }])('is refused before its body arrives: %j', async (headers) => {
    const { origin, upstream } = await tShop();
    const { response, sent } = await begin(origin + path, { 'content-length': '100000', ...headers });
    expect(response.statusCode).toBe(401);
    sent.destroy();
    expect(upstream.calls).toEqual([]);
  });

  it('is not asked for the body that it offers, and its connection is not used again', async () => {
    const { origin, upstream } = await tShop();
    const tool = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'check_iban', arguments: { iban } } };
    const body = JSON.stringify(path === '/mcp' ? tool : { query });
    const offer = async (headers: SendHeaders) => {
      let asked = 0;
      const onContinue = (sent: ClientRequest) => {
        asked += 1;
        sent.end(body);
      };
      const length = { expect: '100-continue', 'content-length': String(body.length) };
      const { response, sent } = await begin(origin + path, { ...mcpHeaders, ...length, ...headers }, onContinue);
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
    expect([status, asked]).toEqual([200, 1]);
    expect(text).toMatch(/"valid":true/);
  });
});

describe('a request without a caller', () => {
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
        'access-control-expose-headers': 'x-request-id, retry-after, www-authenticate, outdated-bank-lists',
      });
    }
  });
});
