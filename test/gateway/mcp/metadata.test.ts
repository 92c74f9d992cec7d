import { expect, it } from 'vitest';
import { ec, jwt, pemOf, type Token, tToken } from '../../support/gateway/callers.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';

/* What clients need to get a token: RFC 9728. */

const env = { ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey) };
const path = '/.well-known/oauth-protected-resource';

it('is served without credentials, with the issuer as tokens have it, and named in each 401', async () => {
  const { origin } = await tListeningGateway(env);
  for (const url of [`${origin}${path}/mcp`, `${origin}${path}`]) {
    const response = await fetch(url);
    expect(await response.json()).toEqual({
      resource: `${origin}/mcp`,
      authorization_servers: [jwt.JWT_ISSUER],
      scopes_supported: ['bank-data', 'essays'],
      bearer_methods_supported: ['header'],
      resource_name: 'Ledgerquill',
    });
  }
  const send = (headers: Record<string, string>) =>
    fetch(`${origin}/mcp`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', ...headers } });
  const resource = `resource_metadata="${origin}${path}/mcp"`;
  expect((await send({})).headers.get('www-authenticate')).toBe(`Bearer ${resource}, scope="bank-data"`);
  const wrong = (await send({ authorization: 'Bearer wrong' })).headers.get('www-authenticate');
  expect(wrong).toBe(`Bearer error="invalid_token", ${resource}, scope="bank-data"`);
});

it('does not exist without an issuer', async () => {
  const { origin } = await tListeningGateway();
  expect((await fetch(`${origin}${path}/mcp`)).status).toBe(404);
});

it('a token may have its scopes in scp', async () => {
  const { origin } = await tListeningGateway(env);
  const names = async (claims: Token) => {
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${await tToken(claims)}`,
      },
    });
    const text = await response.text();
    return ['check_iban', 'order_essay'].filter((name) => text.includes(`"${name}"`));
  };
  expect(await names({ scope: undefined, scp: ['bank-data'] })).toEqual(['check_iban']);
  expect(await names({ scope: 'essays', scp: ['bank-data'] })).toEqual(['order_essay']);
});
