import { createHmac } from 'node:crypto';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { composeServices } from '@theguild/federation-composition';
import { parse, print, stripIgnoredCharacters } from 'graphql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tIdentify } from '../support/auth/identify.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

const secret = 'seeded-router-secret-of-32-chars';
const typeDefs = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
  type Query { find(text: String, filter: Filter): String }
  input Filter { z: Int a: [String] nested: Filter }`;

type Transports = NonNullable<Parameters<typeof createGatewayRuntime>[0]['transports']>;

/** Sends what @graphql-tools/executor-http sends, the transport of Hive Gateway. */
const transports: Transports = {
  http: {
    getSubgraphExecutor({ transportEntry: { location = '' } }) {
      return async ({ document, variables, extensions }) => {
        const body = JSON.stringify({ query: stripIgnoredCharacters(print(document)), variables, extensions });
        const response = await fetch(location, { method: 'POST', body });
        return response.json();
      };
    },
  },
};

/** The body of a request that Hive Gateway sends to a subgraph. */
async function signedBody(query: string, variables?: object) {
  const upstream = await tUpstream(replyJson(200, { data: { find: 'found' } }));
  const { supergraphSdl: supergraph = '' } = composeServices([
    { name: 'ledgerquill', typeDefs: parse(typeDefs), url: upstream.url },
  ]);
  const router = createGatewayRuntime({ supergraph, hmacSignature: { secret }, transports, logging: false });
  onTestFinished(() => router.dispose());
  const response = await router.fetch('http://router/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  expect(await response.json()).toEqual({ data: { find: 'found' } });
  return JSON.parse(upstream.calls[0]?.body ?? '');
}

describe('a request that a router signed', () => {
  it.each([
    ['{ find }', undefined],
    ['query ($f: Filter) { find(text: "ü\\n\\"", filter: $f) }', { f: { z: 1, a: ['é', null], nested: { a: null } } }],
  ])('is one of the caller router: %s', async (query, variables) => {
    const { byHeaders, byParams } = tIdentify({ ROUTER_SECRET: secret, ROUTER_SCOPES: 'bank-data' });
    expect(byHeaders([])).toEqual({ kind: 'unsigned' });
    const body = await signedBody(query, variables);
    const router = { id: 'router', kind: 'router', scopes: new Set(['bank-data']) };
    expect(byParams(body)).toMatchObject(router);
    // The order of keys has no meaning in JSON.
    const reversed = JSON.parse(JSON.stringify(body), (_, value: unknown) =>
      typeof value === 'object' && value && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toReversed())
        : value,
    );
    expect(byParams(reversed)).toMatchObject(router);
  });

  it('is refused if it was changed, or signed with another secret', async () => {
    const { byParams } = tIdentify({ ROUTER_SECRET: secret, ANONYMOUS_SCOPES: 'essays' });
    const other = tIdentify({ ROUTER_SECRET: `${secret}-2` });
    const body = await signedBody('query ($t: String) { find(text: $t) }', { t: 'a' });
    const [name = '', signature = ''] = Object.entries<string>(body.extensions)[0] ?? [];
    expect(name).toBe('hmac-signature');
    expect(byParams(body)).toMatchObject({ kind: 'router' });
    const otherFirst = (first: string) => (first === 'A' ? 'B' : 'A');
    const changes = [
      { variables: { t: 'b' } },
      { variables: {} },
      { variables: { ...body.variables, u: 1 } },
      { query: `${body.query} ` },
      { query: undefined },
      { query: [body.query] },
      ...['', signature.replace(/^./, otherFirst), signature.slice(1), `${signature}=`, 7, {}].map((value) => ({
        extensions: { [name]: value },
      })),
    ];
    for (const change of changes) {
      expect(byParams({ ...body, ...change }), JSON.stringify(change)).toMatchObject({ kind: 'refused' });
    }
    expect(other.byParams(body)).toMatchObject({ kind: 'refused' });
  });

  it('is anonymous without a signature, where that is permitted, and otherwise refused', () => {
    const bodies = [{}, { extensions: null }, { extensions: {} }, { extensions: [] }, { query: '{ find }' }];
    for (const body of bodies) {
      expect(tIdentify({ ROUTER_SECRET: secret }).byParams(body)).toMatchObject({ kind: 'refused' });
      const { byParams } = tIdentify({ ROUTER_SECRET: secret, ANONYMOUS_SCOPES: 'essays' });
      expect(byParams(body)).toMatchObject({ kind: 'anonymous' });
    }
  });

  it.each([
    ['10,000 entities', JSON.stringify({ r: Array(9_990).fill({ __typename: 'A', id: 1 }) }), 'router'],
    ['a long text', JSON.stringify({ v: 'x'.repeat(900_000) }), 'router'],
    ['20 levels', `{"v":${'['.repeat(18)}1${']'.repeat(18)}}`, 'router'],
    ['more levels', `{"v":${'['.repeat(20)}1${']'.repeat(20)}}`, 'refused'],
    ['more values', JSON.stringify({ v: Array(30_000).fill(1) }), 'refused'],
    ['more keys', JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, key) => [key, 1]))), 'refused'],
  ])('is verified up to a size that takes little time: %s', (_, text, kind) => {
    const { byParams } = tIdentify({ ROUTER_SECRET: secret });
    const variables = JSON.parse(text);
    const signature = createHmac('sha256', secret).update(JSON.stringify({ query: '{ find }', variables }));
    const extensions = { 'hmac-signature': signature.digest('base64') };
    expect(byParams({ query: '{ find }', variables, extensions })).toMatchObject({ kind });
  });

  it('is refused if its variables are nested without end', () => {
    const { byParams } = tIdentify({ ROUTER_SECRET: secret });
    const variables = JSON.parse(`{"v":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
    const extensions = { 'hmac-signature': `${'A'.repeat(43)}=` };
    expect(byParams({ query: '{ find }', variables, extensions })).toMatchObject({ kind: 'refused' });
  });
});
