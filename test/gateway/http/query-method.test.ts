import { createHash } from 'node:crypto';
import { METHODS } from 'node:http';
import { describe, expect, it } from 'vitest';
import { graphqlMethods, tListeningGateway, tSend } from '../../support/gateway/http/listening-gateway.ts';

/* HTTP QUERY (RFC 10008), sent by Node's clients. Node.js before 20.19.2 does not know it: its parser refuses it with 400. */

const isKnown = METHODS.includes('QUERY');
const json = { 'content-type': 'application/json' };

const query = 'query ($iban: String!) { ibanValidation(iban: $iban) { iban valid } }';
const variables = { iban: 'DE89 3704 0044 0532 0130 00' };
const hash = { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') };
const valid = { data: { ibanValidation: { iban: 'DE89370400440532013000', valid: true } } };
const order = 'mutation { generateEssay(input: { description: "Pens", wordCount: 9 }) { __typename } }';

describe('a QUERY request', () => {
  it.each([
    ['a query', { query, variables }],
    ['a query to be persisted', { query, variables, extensions: { persistedQuery: hash } }],
    ['a field that is not in the schema', { query: '{ nothing }' }],
    ['an unknown id', { documentId: 'unknown' }],
    ['no query', {}],
  ])('with %s has the answer of POST, with its lifetime', async (_, params) => {
    const { url } = await tListeningGateway();
    const send = async (method: string) => {
      const response = await fetch(url, {
        method,
        headers: { ...json, 'x-request-id': 'one' },
        body: JSON.stringify(params),
      });
      const { status, headers } = response;
      const body = await response.text();
      return {
        status,
        body,
        type: headers.get('content-type'),
        cache: headers.get('cache-control'),
        vary: headers.get('vary'),
      };
    };
    const posted = await send('POST');
    const queried = await send('QUERY');
    if (!isKnown) expect(queried.status).toBe(400);
    else
      expect({ ...queried, cache: queried.cache?.slice(0, -2) }).toEqual({
        ...posted,
        cache: posted.cache?.slice(0, -2),
      });
  });

  it.each([
    ['a mutation', order, json, 405],
    ['a mutation behind a query', `query A { __typename } ${order.replace('mutation', 'mutation B')}`, json, 405],
    ['a form, which a page could send without a preflight', query, { 'content-type': 'text/plain' }, 415],
    ['no content type', query, {}, 415],
    ['a subscription', 'subscription { essayOrder(id: "1") { id } }', json, 406],
  ])('with %s is refused, and no upstream is called', async (_, text, headers, status) => {
    const { url, upstream } = await tListeningGateway();
    const operationName = text.includes(' B') ? 'B' : null;
    const body = JSON.stringify({ query: text, variables, operationName });
    const response = await tSend(url, { method: 'QUERY', headers, body });
    expect(response.status).toBe(isKnown ? status : 400);
    if (isKnown && status === 405) expect(response.headers.allow).toBe('POST');
    expect(upstream.calls).toHaveLength(0);
  });

  it('shares its look-up, its reply and its cost with POST', async () => {
    const { url, post, upstream, graphql } = await tListeningGateway();
    const body = { query, variables };
    for (const _ of [1, 2]) expect((await post(body)).json()).toEqual(valid);
    const { entries } = graphql.caches().replies;
    const queried = await tSend(url, { method: 'QUERY', headers: json, body: JSON.stringify(body) });
    if (isKnown) expect(queried.json()).toEqual(valid);
    expect([upstream.calls.length, entries, graphql.caches().replies.entries]).toEqual([1, 1, 1]);
  });
});

describe('the preflight of a page that sends QUERY', () => {
  const preflight = async (origin: string) => {
    const { url } = await tListeningGateway({ CORS_ORIGINS: 'https://shop.example' });
    const headers = {
      origin,
      'access-control-request-method': 'QUERY',
      'access-control-request-headers': 'content-type',
    };
    return (await tSend(url, { method: 'OPTIONS', headers })).headers;
  };

  it('allows it to an origin of CORS_ORIGINS, and says what QUERY accepts', async () => {
    const headers = await preflight('https://shop.example');
    expect(headers['access-control-allow-methods']).toBe(isKnown ? 'GET, POST, QUERY' : 'GET, POST');
    expect(headers.allow).toBe(`${graphqlMethods}, OPTIONS`);
    expect(headers['accept-query']).toBe(isKnown ? 'application/json' : undefined);
  });

  it('allows nothing to another origin', async () => {
    expect(await preflight('https://other.example')).not.toHaveProperty('access-control-allow-methods');
  });
});
