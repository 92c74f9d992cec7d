import { describe, expect, it } from 'vitest';
import { mcpHeaders } from '../../support/gateway/callers.ts';
import { tListeningGateway, tSend } from '../../support/gateway/http/listening-gateway.ts';

const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';

const onlyLocal = {};
const listed = { ALLOWED_HOSTS: 'gateway.example, b.example' };
const open = { HOST: '0.0.0.0' };

it.each([
  ...['localhost', 'localhost:4000', 'LOCALHOST', '127.0.0.1:4000', '127.1.2.3', '[::1]', '[::1]:4000'].map(
    (host) => [onlyLocal, host] as const,
  ),
  ...['gateway.example', 'B.example:8443', '127.0.0.1'].map((host) => [listed, host] as const),
  [open, 'gateway.example'] as const,
])('a gateway with %j is available under the host name %s', async (env, host) => {
  const { post } = await tListeningGateway(env);
  expect((await post({ query: '{ __typename }' }, { host })).status).toBe(200);
});

it.each([
  ...['rebound.example', 'localhost.rebound.example', '127.0.0.1.nip.example:80', '0.0.0.0', '10.0.0.5', '[::2]'].map(
    (host) => [onlyLocal, host] as const,
  ),
  [listed, 'other.example'] as const,
  [{ ...open, ...listed }, 'other.example'] as const,
])('a gateway with %j is not available under the host name %s, as in DNS rebinding', async (env, host) => {
  const { post, get, url, origin, upstream } = await tListeningGateway(env);
  const tools = await tSend(`${origin}/mcp`, { method: 'POST', headers: { ...mcpHeaders, host }, body: '{}' });
  const page = await tSend(url, { headers: { host, accept: 'text/html' } });
  for (const rejected of [await post({ query }, { host }), await get({ query }, { host }), page, tools]) {
    expect(rejected.status).toBe(421);
    expect(rejected.json().errors[0]?.message).toContain('ALLOWED_HOSTS');
  }
  expect(upstream.calls).toHaveLength(0);
});

describe('a target in absolute form', () => {
  const search = `?${new URLSearchParams({ query: '{ __typename }' })}`;
  const notAPath = 'must be a path, such as /graphql, or an http:// or https:// URL without user name';
  const preflight = { 'graphql-require-preflight': 'true' };

  it.each([
    [`http://gateway.example/graphql${search}`, 'gateway.example'],
    [`HTTP://GATEWAY.example:80/graphql${search}`, 'gateway.example'],
    [`https://gateway.example/graphql${search}`, 'localhost'],
    // The host of the target replaces the header.
    [`http://gateway.example/graphql${search}`, 'rebound.example'],
    [`http://[::1]:4000/graphql${search}`, 'localhost'],
  ])('such as %s is served, beside the Host header %s', async (target, host) => {
    const { url } = await tListeningGateway(listed);
    const response = await tSend(url, { target, headers: { host, ...preflight } });
    expect([response.status, response.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
    const post = {
      method: 'POST',
      body: '{"query":"{ __typename }"}',
      headers: { 'content-type': 'application/json', host },
    };
    expect((await tSend(url, { target: target.replace(search, ''), ...post })).status).toBe(200);
  });

  it.each<[target: string, status: number, message: string]>([
    ['http://rebound.example/graphql', 421, 'ALLOWED_HOSTS'],
    ['http://gateway.example', 404, '/graphql'],
    [`http://gateway.example${search}`, 404, '/graphql'],
    ['http://gateway.example/graphql/x', 404, '/graphql'],
    ['http://gateway.example:port/graphql', 400, 'host name'],
    ...[
      'ftp://gateway.example/graphql',
      'http://anna@gateway.example/graphql',
      'http://gateway.example:80@b.example/graphql',
    ].map((target): [string, number, string] => [target, 400, notAPath]),
  ])('such as %s is answered with %i', async (target, status, message) => {
    const { url, upstream } = await tListeningGateway(listed);
    const body = JSON.stringify({ query });
    const headers = { 'content-type': 'application/json', host: 'gateway.example' };
    const response = await tSend(url, { method: 'POST', target, body, headers });
    expect(response.status).toBe(status);
    expect(response.json().errors[0]?.message).toContain(message);
    expect(upstream.calls).toHaveLength(0);
  });

  it('decides which origin is the own one', async () => {
    const { url } = await tListeningGateway(listed);
    const target = `http://gateway.example/graphql${search}`;
    const statusFor = async (origin: string) =>
      (await tSend(url, { target, headers: { host: 'b.example', origin, ...preflight } })).status;
    expect(await statusFor('http://gateway.example')).toBe(200);
    expect(await statusFor('http://b.example')).toBe(403);
  });
});
