import { createHmac } from 'node:crypto';
import { composeServices } from '@theguild/federation-composition';
import { parse } from 'graphql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRouter } from '../../../examples/supergraph/router.ts';
import { tIdentify } from '../../support/gateway/callers.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

const secret = 'seeded-router-secret-of-32-chars';
const header = 'X-Router-Signature';
const typeDefs = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
  type Query { find(text: String): String }`;

/** A request that Hive Gateway sends to a subgraph, with the plugin of the example. */
async function routedRequest(query: string, variables: object) {
  const upstream = await tUpstream(replyJson(200, { data: { find: 'found' } }));
  const url = `${upstream.url}/graphql`;
  const { supergraphSdl = '' } = composeServices([{ name: 'ledgerquill', typeDefs: parse(typeDefs), url }]);
  const router = createRouter(supergraphSdl, { secret, url });
  onTestFinished(() => router.dispose());
  const response = await router.fetch('http://router/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  expect(await response.json()).toEqual({ data: { find: 'found' } });
  const { headers = {}, body = '' } = upstream.calls[0] ?? {};
  return { signature: String(headers['x-router-signature']), body };
}

const sign = (content: string) => `sha256=${createHmac('sha256', secret).update(content).digest('hex')}`;

describe('a signature of a router', () => {
  it('identifies it if it is one of these bytes', async () => {
    const { identifyAndCount, identifySignedAndCount } = tIdentify({
      ROUTER_SECRET: secret,
      ROUTER_SCOPES: 'bank-data',
    });
    const { signature, body } = await routedRequest('query ($t: String) { find(text: $t) }', { t: 'ü\n"' });
    expect(identifyAndCount([header, signature])).toEqual({ kind: 'signed' });
    const router = { id: 'router', kind: 'router', scopes: new Set(['bank-data']) };
    expect(identifySignedAndCount([header, signature], body)).toMatchObject(router);
    expect(identifySignedAndCount([header, signature], Buffer.from(body))).toMatchObject(router);
    expect(identifySignedAndCount([header, signature], `${body} `)).toMatchObject({ kind: 'refused' });
  });

  it('may be of one of two secrets, while they are replaced', () => {
    const next = 'the-next-router-secret-of-32-chars';
    const { identifySignedAndCount } = tIdentify({ ROUTER_SECRET: `${next},${secret}` });
    for (const each of [secret, next]) {
      const signature = `sha256=${createHmac('sha256', each).update('{}').digest('hex')}`;
      expect(identifySignedAndCount([header, signature], '{}')).toMatchObject({ kind: 'router' });
    }
    const both = `sha256=${createHmac('sha256', `${next},${secret}`).update('{}').digest('hex')}`;
    expect(identifySignedAndCount([header, both], '{}')).toMatchObject({ kind: 'refused' });
  });

  it.each([
    ['of another secret', `sha256=${createHmac('sha256', `${secret}-2`).update('{}').digest('hex')}`],
    ['empty', ''],
    ['without its algorithm', sign('{}').slice('sha256='.length)],
    ['with another algorithm', sign('{}').replace('256', '1')],
    ['too short', sign('{}').slice(0, -1)],
    ['too long', `${sign('{}')}0`],
    ['in base64', `sha256=${createHmac('sha256', secret).update('{}').digest('base64')}`],
  ])('is refused: %s', (_, signature) => {
    const { identifyAndCount, identifySignedAndCount } = tIdentify({
      ROUTER_SECRET: secret,
      ANONYMOUS_SCOPES: 'essays',
    });
    expect(identifySignedAndCount([header, sign('{}')], '{}')).toMatchObject({ kind: 'router' });
    expect(identifyAndCount([header, signature])).toEqual({ kind: 'signed' });
    expect(identifySignedAndCount([header, signature], '{}')).toMatchObject({ kind: 'refused' });
  });

  it('is refused if there are two, even if they are equal', () => {
    const { identifySignedAndCount } = tIdentify({ ROUTER_SECRET: secret });
    expect(identifySignedAndCount([header, sign('{}'), header, sign('{}')], '{}')).toMatchObject({ kind: 'refused' });
  });

  it('means nothing where no router is configured', () => {
    const { identifyAndCount, identifySignedAndCount } = tIdentify({ ANONYMOUS_SCOPES: 'essays' });
    expect(identifyAndCount([header, sign('{}')])).toMatchObject({ kind: 'anonymous' });
    expect(identifySignedAndCount([header, sign('{}')], '{}')).toMatchObject({ kind: 'refused' });
  });

  it('can be missing where anonymous requests are permitted', () => {
    expect(tIdentify({ ROUTER_SECRET: secret }).identifyAndCount([])).toMatchObject({ kind: 'refused', status: 401 });
    const { identifyAndCount } = tIdentify({ ROUTER_SECRET: secret, ANONYMOUS_SCOPES: 'essays' });
    expect(identifyAndCount([])).toMatchObject({ kind: 'anonymous' });
  });
});
