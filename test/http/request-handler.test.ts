import { describe, expect, it, vi } from 'vitest';
import type { Environment } from '../../src/config/variables.ts';
import { tGateway } from '../support/gateway.ts';
import { readAll, tConnection, untilClosed } from '../support/http/connection.ts';
import { tRequestHandler } from '../support/http/request-handler.ts';
import { replyHeld, replyJson, replyNever, tUpstream, type Upstream } from '../support/scripted-upstream.ts';

const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const html = { accept: 'text/html,application/xhtml+xml' };
const json = { 'content-type': 'application/json' };

/** A gateway that listens. By default, its upstream finds every IBAN valid. */
async function open(env: Environment = {}, given?: Upstream) {
  const upstream = given ?? (await tUpstream(replyJson(200, { valid: true })));
  const gateway = tGateway({ bankDataUrl: upstream.url, essaysUrl: upstream.url, env });
  const url = await gateway.listen();
  const post = (body: string, headers: Record<string, string> = json, signal: AbortSignal | null = null) =>
    fetch(`${url}/graphql`, { method: 'POST', headers, body, signal });
  return { ...gateway, upstream, url, post };
}

/** An upstream that waits for `answer` before it responds. */
async function tPausedUpstream() {
  const { reply, release } = replyHeld(replyJson(200, { valid: true }));
  return { upstream: await tUpstream(reply), answer: release };
}

/** All errors have the format of GraphQL errors. */
async function expectError(response: Response, status: number, message: string) {
  expect(response.status).toBe(status);
  const requestId = response.headers.get('x-request-id');
  expect(await response.json()).toEqual({
    errors: [{ message, extensions: { code: 'BAD_USER_INPUT', service: null, retryable: false, requestId } }],
  });
}

describe('the request handler', () => {
  it('accepts a query by POST', async () => {
    const { post } = await open();
    const response = await post(JSON.stringify({ query }));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ data: { ibanValidation: { valid: true } } });
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('accepts a query by GET', async () => {
    const { url } = await open();
    const response = await fetch(`${url}/graphql?query=${encodeURIComponent(query)}`, { headers: json });
    expect(await response.json()).toEqual({ data: { ibanValidation: { valid: true } } });
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
    const answer = await readAll(socket);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).not.toMatch(/node_modules|TypeError/);
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

  it('accepts a content type in any case', async () => {
    const { post } = await open();
    const response = await post('{"query":"{ __typename }"}', { 'content-type': 'Application/JSON; charset=UTF-8' });
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
  });

  it('answers health checks', async () => {
    const { url } = await open();
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'alive' });
    expect(await (await fetch(`${url}/ready`)).json()).toEqual({ status: 'ready' });
  });

  it('rejects other paths', async () => {
    const { url } = await open();
    const message = 'There is no such path; the GraphQL endpoint is /graphql.';
    await expectError(await fetch(`${url}/graphiql`), 404, message);
    await expectError(await fetch(`${url}/`), 404, message);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'rejects %s, which any page may send without a preflight',
    async (type) => {
      const { post, upstream } = await open();
      const response = await post(JSON.stringify({ query }), { 'content-type': type });
      await expectError(response, 415, 'The Content-Type header must be application/json.');
      expect(upstream.calls).toHaveLength(0);
    },
  );

  it.each<Record<string, string>>([
    { 'content-encoding': 'gzip' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'application/json;charset="iso-8859-1"' },
  ])('rejects an encoding that it cannot read: %j', async (headers) => {
    const { post, upstream } = await open();
    const response = await post(JSON.stringify({ query }), { ...json, ...headers });
    expect(response.headers.get('cache-control')).toBe('no-store');
    await expectError(response, 415, 'The request body must be uncompressed and encoded in UTF-8.');
    expect(upstream.calls).toHaveLength(0);
  });

  it('rejects a body over the limit, with or without a Content-Length header', async () => {
    const { url, post } = await open({ MAX_BODY_BYTES: '1024' });
    const body = JSON.stringify({ query: `# ${'x'.repeat(2_000)}\n${query}` });
    await expectError(await post(body), 413, 'The request body must have at most 1024 bytes.');
    const stream = new Blob([body]).stream();
    const init = { method: 'POST', headers: json, body: stream, duplex: 'half' };
    const chunked = await fetch(`${url}/graphql`, init);
    await expectError(chunked, 413, 'The request body must have at most 1024 bytes.');
  });

  it('survives a client that disconnects while it sends', async () => {
    const { url, post } = await open();
    const headers = 'host: localhost\r\ncontent-type: application/json\r\ncontent-length: 100';
    const socket = await tConnection(url, `POST /graphql HTTP/1.1\r\n${headers}\r\n\r\n{"query"`);
    await untilClosed(socket.destroy());
    expect(await (await post('{"query":"{ __typename }"}')).json()).toEqual({ data: { __typename: 'Query' } });
  });

  it('uses the request id of the client in errors', async () => {
    const upstream = await tUpstream(replyJson(500, {}));
    const { post } = await open({}, upstream);
    const response = await post(JSON.stringify({ query }), { ...json, 'x-request-id': 'trace:7.f-1' });
    expect(response.headers.get('x-request-id')).toBe('trace:7.f-1');
    expect((await response.json()).errors[0].extensions.requestId).toBe('trace:7.f-1');
  });

  it('replaces an invalid request id', async () => {
    const { url } = await open();
    const response = await fetch(`${url}/health`, { headers: { 'x-request-id': 'a b\tc' } });
    expect(response.headers.get('x-request-id')).toMatch(/^\d{3}[\da-z]{9}$/);
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

  it('cannot be framed, runs only its own script, and sends its URL to no other server', async () => {
    const { url } = await open();
    const first = await fetch(`${url}/graphql`, { headers: html });
    await first.text();
    const cached = await fetch(`${url}/graphql`, {
      headers: { ...html, 'if-none-match': first.headers.get('etag') ?? '' },
    });
    expect([first.status, cached.status]).toEqual([200, 304]);
    for (const { headers } of [first, cached]) {
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[\w+/]{43}=';/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    }
  });

  it('is not served to clients that prefer JSON', async () => {
    const { url } = await open();
    for (const accept of ['text/html;q=0, application/json', 'application/json, text/html;q=0.1', '*/*']) {
      const response = await fetch(`${url}/graphql?query={__typename}`, { headers: { ...json, accept } });
      expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
    }
  });

  it('loads nothing from other servers', async () => {
    const { url } = await open();
    const page = await (await fetch(`${url}/graphql`, { headers: html })).text();
    const [head = '', ...scripts] = page.split('<script');
    expect(scripts.length).toBeGreaterThan(0);
    for (const tag of page.match(/<(script|link|img|iframe)\b[^>]{0,200}>/g) ?? []) {
      expect(tag).not.toMatch(/^<(script|link|img|iframe)[^>]*\s(src|href)=["']?(https?:)?\/\//);
    }
    expect(head).not.toMatch(/@import|url\(["']?(https?:)?\/\//);
  });
});

describe('a client that disconnects', () => {
  it('does not abort the look-up that was already sent, and gets its answer later without another call', async () => {
    const { reply, release } = replyHeld(replyJson(200, { valid: true }));
    const upstream = await tUpstream(reply);
    const { post, log } = await open({}, upstream);
    const client = new AbortController();
    const sent = post(JSON.stringify({ query }), json, client.signal);
    await upstream.nextCall();
    client.abort();
    await expect(sent).rejects.toThrow('aborted');
    release();
    expect(await (await post(JSON.stringify({ query }))).json()).toMatchObject({ data: { ibanValidation: {} } });
    expect(upstream.calls).toHaveLength(1);
    expect(log()).not.toContain('unexpected error');
  });

  it.each([
    ['a compiled operation', {}, {}],
    ['Yoga', { FEDERATION_TRACES: 'on' }, { 'apollo-federation-include-trace': 'ftv1' }],
  ])('gets the answer to a call of %s later, too', async (_, env, headers) => {
    const { post, log, upstream } = await open(env);
    const query = 'query ($iban: String!) { ibanValidation(iban: $iban) { valid } }';
    const ask = (iban: string) => JSON.stringify({ query, variables: { iban } });
    for (const iban of ['DE89370400440532013000', 'GB29NWBK60161331926819']) await (await post(ask(iban))).text();
    // Compiled after the second response.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const { reply, release } = replyHeld(replyJson(200, { valid: true }));
    upstream.answers(reply);
    const client = new AbortController();
    const question = ask('FR1420041010050500013M02606');
    const sent = post(question, { ...json, ...headers }, client.signal);
    await upstream.nextCall();
    client.abort();
    await expect(sent).rejects.toThrow('aborted');
    release();
    expect(await (await post(question)).json()).toEqual({ data: { ibanValidation: { valid: true } } });
    expect(upstream.calls).toHaveLength(3);
    expect(log()).not.toContain('unexpected error');
  });

  it('does not abort an essay that was already sent, and gets it later with the same key', async () => {
    const { reply, release } = replyHeld(replyJson(200, { essay: 'Pens.' }));
    const upstream = await tUpstream(reply);
    const { post, log } = await open({}, upstream);
    const input = '{ description: "Pens", wordCount: 9, idempotencyKey: "k-1" }';
    const order = JSON.stringify({ query: `mutation { generateEssay(input: ${input}) { ... on Essay { text } } }` });
    const client = new AbortController();
    const sent = post(order, json, client.signal);
    await upstream.nextCall();
    client.abort();
    await expect(sent).rejects.toThrow('aborted');
    release();
    expect(await (await post(order)).json()).toEqual({ data: { generateEssay: { text: 'Pens.' } } });
    expect(upstream.calls).toHaveLength(1);
    expect(log()).not.toContain('unexpected error');
  });

  it('makes none of its queued calls', async () => {
    const { reply, release } = replyHeld(replyJson(200, { valid: true }));
    const upstream = await tUpstream(reply);
    const { post, log } = await open({ UPSTREAM_CONCURRENCY: '1' }, upstream);
    const client = new AbortController();
    const list = '{ ibanValidations(ibans: ["DE89370400440532013000", "FR1420041010050500013M02606"]) { valid } }';
    const sent = post(JSON.stringify({ query: list }), json, client.signal);
    await upstream.nextCall();
    client.abort();
    await expect(sent).rejects.toThrow('aborted');
    await vi.waitUntil(() => log().includes('"status":499'), { interval: 5, timeout: 20_000 });
    release();
    // Uses the slot that the queued call would have taken.
    const other = '{ ibanValidation(iban: "GB29NWBK60161331926819") { valid } }';
    expect(await (await post(JSON.stringify({ query: other }))).json()).toEqual({
      data: { ibanValidation: { valid: true } },
    });
    expect(upstream.calls.map(({ query }) => query.get('iban_number'))).toEqual([
      'DE89370400440532013000',
      'GB29NWBK60161331926819',
    ]);
  });
});

describe('closing the gateway', () => {
  it('waits for an active query, also if it is called twice, and refuses new connections', async () => {
    const { upstream, answer } = await tPausedUpstream();
    const { post, close } = await open({}, upstream);
    const sent = post(JSON.stringify({ query }));
    await upstream.nextCall();
    const closed = Promise.all([close(), close()]);
    await expect(post(JSON.stringify({ query }))).rejects.toThrow('fetch failed');
    answer();
    expect(await (await sent).json()).toEqual({ data: { ibanValidation: { valid: true } } });
    await closed;
    expect(upstream.calls).toHaveLength(1);
  });

  it('aborts queries that are still active after SHUTDOWN_TIMEOUT_MS', async () => {
    const upstream = await tUpstream(replyNever);
    const { post, close } = await open({ SHUTDOWN_TIMEOUT_MS: '0' }, upstream);
    const sent = post(JSON.stringify({ query })).catch((error: Error) => error.message);
    const call = await upstream.nextCall();
    await close();
    expect(await sent).toBe('fetch failed');
    await call.aborted;
  });

  it('does not wait for connections without a complete request', async () => {
    const { url, close } = await open();
    const sockets = await Promise.all(['', 'GET /hea'].map((text) => tConnection(url, text)));
    const closed = sockets.map(untilClosed);
    await close();
    await Promise.all(closed);
  });

  it('changes /ready to 503', async () => {
    const origin = await tRequestHandler({ isReady: () => false, readiness: () => ({ sharedStore: 'down' }) });
    const response = await fetch(`${origin}/ready`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: 'stopping', sharedStore: 'down' });
  });
});
