import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createPersistedQueries } from '../../../src/gateway/graphql/request/params.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* Automatic persisted queries: a client sends the hash of a query, and the query only if the gateway does not know it. */

const query = 'query ($code: String!) { country(code: $code) { name } }';
const variables = { code: 'FR' };
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const extensions = (text = query) => ({ persistedQuery: { version: 1, sha256Hash: hashOf(text) } });
const answer = { data: { country: { name: 'France' } } };

describe('a persisted query', () => {
  it('is registered with its text, and then found by its hash, by POST and by GET', async () => {
    const { post, get, log } = await tListeningGateway();
    const short = { variables, extensions: extensions() };
    const params = { variables: JSON.stringify(variables), extensions: JSON.stringify(extensions()) };
    for (const [accept, expected] of [
      ['application/json', 200],
      ['application/graphql-response+json', 422],
    ] as const) {
      for (const { status, json } of [await get(params, { accept }), await post(short, { accept })])
        expect([status, json().errors[0]?.message]).toEqual([expected, 'PersistedQueryNotFound']);
    }
    const unknown = await post(short);
    expect(unknown.status).toBe(200);
    const requestId = unknown.headers['x-request-id'];
    const code = 'PERSISTED_QUERY_NOT_FOUND';
    expect(unknown.json()).toEqual({
      errors: [{ message: 'PersistedQueryNotFound', extensions: { code, service: null, retryable: false, requestId } }],
    });
    expect((await post({ query, ...short })).json()).toEqual(answer);
    expect((await post(short)).json()).toEqual(answer);
    expect((await get(params)).json()).toEqual(answer);
    expect(log()).not.toContain('unexpected error');
  });

  it('is not registered under the hash of another query', async () => {
    const { post } = await tListeningGateway();
    const mismatched = { query, variables, extensions: extensions('{ __typename }') };
    const rejected = await post(mismatched);
    const accept = 'application/graphql-response+json';
    expect([rejected.status, (await post(mismatched, { accept })).status]).toEqual([200, 422]);
    expect(rejected.json().errors[0]?.extensions.code).toBe('PERSISTED_QUERY_MISMATCH');
    const unknown = await post({ extensions: extensions('{ __typename }') });
    expect(unknown.json().errors[0]?.message).toBe('PersistedQueryNotFound');
  });

  it('that is a mutation is not executed by GET', async () => {
    const upstream = await tUpstream(replyJson(200, { essay: 'Pens.' }));
    const { post, get } = await tListeningGateway({}, upstream);
    const order = 'mutation { generateEssay(input: { description: "Pens", wordCount: 9 }) { __typename } }';
    await post({ query: order, extensions: extensions(order) });
    expect(upstream.calls).toHaveLength(1);
    const rejected = await get({ extensions: JSON.stringify(extensions(order)) });
    expect([rejected.status, rejected.headers.allow]).toEqual([405, 'POST']);
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('a documentId', () => {
  it('is the hash of a registered query, with or without the prefix sha256:, by POST and by GET', async () => {
    const { post, get } = await tListeningGateway();
    await post({ query, variables, extensions: extensions() });
    for (const documentId of [hashOf(query), `sha256:${hashOf(query)}`]) {
      expect((await post({ documentId, variables })).json()).toEqual(answer);
      expect((await post({ query: null, documentId, variables, extensions: { other: 1 } })).json()).toEqual(answer);
      expect((await get({ documentId, variables: JSON.stringify(variables) })).json()).toEqual(answer);
    }
  });

  it('that is unknown is not found, and registers nothing', async () => {
    const { post, get } = await tListeningGateway();
    const documentId = hashOf(query);
    expect((await post({ query, documentId, variables })).json()).toEqual(answer);
    for (const received of [await post({ documentId, variables }), await get({ documentId })])
      expect(received.json().errors[0]?.extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
  });

  it('is ignored beside a query or a persisted query, and unless it is a string', async () => {
    const { post } = await tListeningGateway();
    await post({ query, variables, extensions: extensions() });
    expect((await post({ query, documentId: 'unknown', variables })).json()).toEqual(answer);
    expect((await post({ documentId: 'unknown', variables, extensions: extensions() })).json()).toEqual(answer);
    for (const documentId of [5, ['a'], { a: 1 }]) {
      const { status, json } = await post({ documentId });
      expect([status, json().errors[0]?.message]).toEqual([400, 'Must provide query string.']);
    }
  });
});

describe('a persisted query that is not a string', () => {
  it.each([
    ['an object with a length', { length: 1_000_000_000 }],
    ['the bytes of a registered query', [...Buffer.from(query)]],
    ['a number', 5],
  ])('is rejected before it is hashed or stored: %s', async (_, value) => {
    const { post, log } = await tListeningGateway();
    const rejected = await post({ query: value, extensions: extensions() });
    expect(rejected.status).toBe(400);
    expect(rejected.json().errors[0]).toMatchObject({
      message: 'Expected "query" param to be a string.',
      extensions: { code: 'BAD_REQUEST' },
    });
    const unknown = await post({ variables, extensions: extensions() });
    expect(unknown.json().errors[0]?.extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect(log()).not.toContain('unexpected error');
  });
});

describe('the store of persisted queries', () => {
  it('limits its characters, and removes the least recently used', () => {
    const store = createPersistedQueries(null, 10_000);
    const text = 'x'.repeat(300);
    for (let index = 0; index < 100; index += 1) store.set(String(index), text);
    expect(store.get('99')).toBe(text);
    expect(store.get('75')).toBe(text);
    expect(store.get('74')).toBeUndefined();
  });

  it('does not store a query that would replace all others', () => {
    const store = createPersistedQueries(null, 10_000);
    store.set('short', '{ __typename }');
    store.set('long', 'x'.repeat(9_000));
    expect(store.get('long')).toBeUndefined();
    expect(store.get('short')).toBe('{ __typename }');
  });
});
