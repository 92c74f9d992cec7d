import { expect, it } from 'vitest';
import { tListeningGateway, tSend } from '../support/http/listening-gateway.ts';

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
  const { post, get, url, upstream } = await tListeningGateway(env);
  const page = await tSend(url, { headers: { host, accept: 'text/html' } });
  for (const rejected of [await post({ query }, { host }), await get({ query }, { host }), page]) {
    expect(rejected.status).toBe(421);
    expect(rejected.json().errors[0]?.message).toContain('ALLOWED_HOSTS');
  }
  expect(upstream.calls).toHaveLength(0);
});
