import { describe, expect, it, vi } from 'vitest';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { tScriptedGateway } from '../../support/gateway.ts';
import { readAll, tConnection } from '../../support/loopback.ts';
import { replyHeld, replyJson, replyNever } from '../../support/scripted-upstream.ts';

const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const answer = { data: { ibanValidation: { valid: true } } };
const html = { accept: 'text/html,application/xhtml+xml' };
const json = { 'content-type': 'application/json' };

/** A gateway that listens. By default, its upstream finds every IBAN valid. */
async function open(env: Environment = {}, reply = replyJson(200, { valid: true })) {
  const gateway = await tScriptedGateway(reply, env);
  const url = await gateway.listen();
  const post = (body: string | ReadableStream, headers: HeadersInit = json, signal: AbortSignal | null = null) => {
    const init = { method: 'POST', headers, body, duplex: 'half', signal };
    return fetch(`${url}/graphql`, init);
  };
  return { ...gateway, url, post };
}

type Gateway = Awaited<ReturnType<typeof open>>;

/** All errors have the format of GraphQL errors. */
async function expectError(response: Response, status: number, message: string) {
  expect(response.status).toBe(status);
  const requestId = response.headers.get('x-request-id');
  expect(await response.json()).toEqual({
    errors: [{ message, extensions: { code: 'BAD_USER_INPUT', service: null, retryable: false, requestId } }],
  });
}

describe('the request handler', () => {
  it('accepts a query by POST, with its content type in any case', async () => {
    const { post } = await open();
    const response = await post(JSON.stringify({ query }), { 'content-type': 'Application/JSON; charset=UTF-8' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(answer);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each([
    'x:99999999',
    '[::',
    'a b',
    'localhost/x',
    'localhost?x=',
    'a:b@127.0.0.1',
    'localhost\r\nhost: other.example',
    'localhost\r\nHOST: localhost',
  ])('rejects the Host header %j without internal details', async (host) => {
    const { url } = await open();
    const socket = await tConnection(url, `GET /health HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    const text = await readAll(socket);
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).not.toMatch(/node_modules|TypeError/);
  });

  it.each(['variables', 'extensions'])(
    'rejects %s in the URL that are not JSON, and does not log them',
    async (name) => {
      const { url, log } = await open();
      for (const first of ['', '?&', 'a=?&']) {
        const target = `${url}/graphql?${first}query={__typename}&${name}={"iban":"DE89370400440532013000`;
        await expectError(await fetch(target, { headers: json }), 400, `${name} must be valid JSON.`);
      }
      expect(log()).not.toContain('"level":50');
      expect(log()).not.toContain('__typename');
    },
  );

  it('rejects other paths', async () => {
    const { url } = await open();
    const message = 'There is no such path; the GraphQL endpoint is /graphql.';
    await expectError(await fetch(`${url}/graphiql`), 404, message);
    await expectError(await fetch(`${url}/`), 404, message);
  });

  const wrongType = 'The Content-Type header must be application/json.';
  const compressed = 'The request body must not be compressed: without a Content-Encoding header, or with identity.';
  it.each<[name: string, value: string, message: string]>([
    // Any page may send these without a preflight.
    ['content-type', 'text/plain', wrongType],
    ['content-type', 'application/x-www-form-urlencoded', wrongType],
    ['content-type', 'multipart/form-data; boundary=x', wrongType],
    ['content-encoding', 'gzip', compressed],
  ])('rejects a body with %s %s', async (name, value, message) => {
    const { post, upstream } = await open();
    const response = await post(JSON.stringify({ query }), { ...json, [name]: value });
    expect(response.headers.get('cache-control')).toBe('no-store');
    await expectError(response, 415, message);
    expect(upstream.calls).toHaveLength(0);
  });

  it('rejects a body over the limit, with or without a Content-Length header', async () => {
    const { post } = await open();
    const body = JSON.stringify({ query: `# ${'x'.repeat(1_000_000)}\n${query}` });
    for (const sent of [body, new Blob([body]).stream()])
      await expectError(await post(sent), 413, 'The request body must have at most 1000000 bytes.');
  });
});

describe('GraphiQL', () => {
  it('is served to browsers at /graphql, and / redirects to it', async () => {
    const { url } = await open();
    const response = await fetch(`${url}/`, { headers: html });
    expect(response.url).toBe(`${url}/graphql`);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await response.text()).toContain('<title>Ledgerquill</title>');
  });

  it('cannot be framed, runs only its own script, and sends its URL to no other server, also if confirmed with 304', async () => {
    const { url } = await open();
    const get = (etag: string, encoding = 'br') =>
      fetch(`${url}/graphql`, { headers: { ...html, 'accept-encoding': encoding, 'if-none-match': etag } });
    const first = await get('W/"old"', 'gzip');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{43}"$/);
    const again = await Promise.all([etag, `"other", ${etag}`, '*'].map((etags) => get(etags)));
    expect([first, ...again].map(({ status }) => status)).toEqual([200, 304, 304, 304]);
    for (const { headers } of [first, ...again]) {
      expect(Object.fromEntries(headers)).toMatchObject({
        etag,
        'cache-control': 'no-cache',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; script-src 'sha256-[\w+/]{43}=';(?!.*(https?:|\*)).*frame-ancestors 'none'/,
        ),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      });
    }
    expect(await Promise.all(again.map((response) => response.text()))).toEqual(['', '', '']);
  });

  it('is not served to clients that prefer JSON', async () => {
    const { url } = await open();
    for (const accept of ['text/html;q=0, application/json', 'application/json, text/html;q=0.1', '*/*']) {
      const response = await fetch(`${url}/graphql?query={__typename}`, { headers: { ...json, accept } });
      expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
    }
  });
});

describe('a client that disconnects', () => {
  /** Sends the body, and disconnects when the upstream has received its call, which is held until `release`. */
  async function disconnect({ post, upstream }: Gateway, body: string, reply: object, headers = {}) {
    const held = replyHeld(replyJson(200, reply));
    upstream.answers(held.reply);
    const client = new AbortController();
    const sent = post(body, { ...json, ...headers }, client.signal);
    await upstream.nextCall();
    client.abort();
    await expect(sent).rejects.toThrow('aborted');
    return held.release;
  }

  it.each([
    ['an operation', 0, {}, {}],
    ['a compiled operation', 2, {}, {}],
    ['Yoga', 2, { ANONYMOUS_SCOPES: 'bank-data+essays+traces' }, { 'apollo-federation-include-trace': 'ftv1' }],
  ])('gets the answer to a call of %s later without another call', async (_, earlier, env, headers) => {
    const gateway = await open(env);
    const { post, log, upstream } = gateway;
    const query = 'query ($iban: String!) { ibanValidation(iban: $iban) { valid } }';
    const ask = (iban: string) => JSON.stringify({ query, variables: { iban } });
    for (const iban of ['DE89370400440532013000', 'GB29NWBK60161331926819'].slice(0, earlier))
      await (await post(ask(iban))).text();
    // Compiled after the second response.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const question = ask('FR1420041010050500013M02606');
    const release = await disconnect(gateway, question, { valid: true }, headers);
    release();
    expect(await (await post(question)).json()).toEqual(answer);
    expect(upstream.calls).toHaveLength(earlier + 1);
    expect(log()).not.toContain('unexpected error');
  });

  it('gets an essay that was already sent later with the same key', async () => {
    const gateway = await open();
    const input = '{ description: "Pens", wordCount: 9, idempotencyKey: "k-1" }';
    const order = JSON.stringify({ query: `mutation { generateEssay(input: ${input}) { ... on Essay { text } } }` });
    const release = await disconnect(gateway, order, { essay: 'Pens.' });
    release();
    expect(await (await gateway.post(order)).json()).toEqual({ data: { generateEssay: { text: 'Pens.' } } });
    expect(gateway.upstream.calls).toHaveLength(1);
    expect(gateway.log()).not.toContain('unexpected error');
  });

  it('makes none of its queued calls', async () => {
    const gateway = await open({ UPSTREAM_CONCURRENCY: '1' });
    const list = '{ ibanValidations(ibans: ["DE89370400440532013000", "FR1420041010050500013M02606"]) { valid } }';
    const release = await disconnect(gateway, JSON.stringify({ query: list }), { valid: true });
    await vi.waitUntil(() => gateway.log().includes('"status":499'), { interval: 5, timeout: 100_000 });
    release();
    // Uses the slot that the queued call would have taken.
    const other = '{ ibanValidation(iban: "GB29NWBK60161331926819") { valid } }';
    expect(await (await gateway.post(JSON.stringify({ query: other }))).json()).toEqual(answer);
    expect(gateway.upstream.calls.map(({ query }) => query.get('iban_number'))).toEqual([
      'DE89370400440532013000',
      'GB29NWBK60161331926819',
    ]);
  });
});

describe('closing the gateway', () => {
  it('aborts queries that are still active after SHUTDOWN_TIMEOUT_MS', async () => {
    const { post, close, upstream } = await open({ SHUTDOWN_TIMEOUT_MS: '0' }, replyNever);
    const sent = post(JSON.stringify({ query })).catch((error: Error) => error.message);
    const call = await upstream.nextCall();
    await close();
    expect(await sent).toBe('fetch failed');
    await call.aborted;
  });
});
