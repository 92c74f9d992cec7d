import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { as, jwt, keyOf, sha256, tToken } from '../../support/gateway/callers.ts';
import { graphqlMethods, tListeningGateway, tSend } from '../../support/gateway/http/listening-gateway.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* Media types and statuses, by GraphQL over HTTP, September 2026: https://http-spec.graphql.org/September2026/ */

const german = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const plain = 'application/json';
const graphql = 'application/graphql-response+json';

describe('the media type of a response', () => {
  it.each([
    [undefined, plain],
    ['', plain],
    ['*/*', plain],
    ['application/*', plain],
    [plain, plain],
    [graphql, graphql],
    [`${graphql}; charset=utf-8`, graphql],
    ['Application/JSON; Charset=UTF-8', plain],
    [`${graphql};charset=utf8`, graphql],
    [`${graphql},${plain};q=0.9`, graphql],
    [`${graphql};q=0.1, ${plain}`, plain],
    [`${plain};q=0, */*;q=0.1`, graphql],
    [`${graphql}, application/graphql+json, ${plain}, text/event-stream, multipart/mixed`, graphql],
  ])('for the Accept header %j is %s', async (accept, expected) => {
    const { post } = await tListeningGateway();
    const { status, headers } = await post({ query: '{ __typename }' }, accept === undefined ? {} : { accept });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe(`${expected}; charset=utf-8`);
    expect(headers.vary).toContain('accept');
  });

  it.each(['text/plain', 'text/event-stream', `${plain};q=0`, `${plain}; charset=latin1`])(
    'cannot be %s alone, and no upstream is called',
    async (accept) => {
      const { post, get, upstream } = await tListeningGateway();
      for (const rejected of [await post({ query: german }, { accept }), await get({ query: german }, { accept })]) {
        expect(rejected.status).toBe(406);
        expect(rejected.json().errors[0]?.message).toBe(`The Accept header must allow ${plain} or ${graphql}.`);
      }
      expect(upstream.calls).toHaveLength(0);
    },
  );
});

describe('the media type of a rejection', () => {
  const keys = { GATEWAY_API_KEYS: `shop:${sha256(keyOf('shop'))}:bank-data`, CALLER_REQUESTS_PER_MINUTE: '1' };

  it.each<[status: number, code: string, env: Record<string, string>, options: Parameters<typeof tSend>[1]]>([
    [400, 'BAD_USER_INPUT', {}, { headers: { host: 'a b' } }],
    [401, 'UNAUTHENTICATED', keys, { method: 'POST', headers: { 'content-type': plain } }],
    [403, 'FORBIDDEN', {}, {}],
    [413, 'BAD_USER_INPUT', {}, { method: 'POST', headers: { 'content-type': plain }, body: ' '.repeat(1_000_001) }],
    [415, 'BAD_USER_INPUT', {}, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' }],
    [421, 'FORBIDDEN', {}, { headers: { host: 'gateway.example' } }],
    [429, 'RATE_LIMITED', keys, { method: 'POST', headers: { 'content-type': plain, ...as('shop') } }],
  ])('is the one that the client prefers, with status %i', async (status, code, env, options) => {
    const { url } = await tListeningGateway(env);
    const send = (accept: string) => tSend(url, { ...options, headers: { ...options?.headers, accept } });
    if (status === 429) await send(plain);
    for (const [accept, expected] of [
      [`${graphql},${plain};q=0.9`, graphql],
      [`${graphql};q=0.1, ${plain}`, plain],
      ['*/*', plain],
    ] as const) {
      const rejected = await send(accept);
      expect([rejected.status, rejected.headers['content-type']]).toEqual([status, `${expected}; charset=utf-8`]);
      expect(rejected.json()).toEqual({
        errors: [expect.objectContaining({ extensions: expect.objectContaining({ code }) })],
      });
    }
  });

  it('is the one that the client prefers, with status 503', async () => {
    const issuer = await tUpstream(replyJson(503, {}));
    const { post } = await tListeningGateway({ ...jwt, JWT_JWKS_URL: `${issuer.url}/keys` });
    const authorization = `Bearer ${await tToken()}`;
    for (const accept of [graphql, plain]) {
      const { status, headers } = await post({ query: german }, { accept, authorization });
      expect([status, headers['content-type']]).toEqual([503, `${accept}; charset=utf-8`]);
    }
  });

  it('is application/json at paths without GraphQL', async () => {
    const { origin } = await tListeningGateway();
    const { headers } = await tSend(`${origin}/ready`, { headers: { accept: graphql } });
    expect(headers['content-type']).toBe(`${plain}; charset=utf-8`);
  });
});

function createPersistedQuery(query: string) {
  return { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') };
}

const persistedQuery = createPersistedQuery('{ __typename }');

describe('the body of a request', () => {
  const body = '{"query":"{ __typename }"}';

  it.each(['utf-8', 'UTF-8', 'utf8', 'UTF8', '"utf-8"', '"UTF8"', 'utf-8;q=1'])(
    'may have the charset %s',
    async (charset) => {
      const { post } = await tListeningGateway();
      for (const separator of [';', '; ', ' ; '])
        expect((await post(body, { 'content-type': `${plain}${separator}charset=${charset}` })).status).toBe(200);
    },
  );

  it.each(['latin1', 'utf-16', 'utf-8x', '"utf-16"', 'us-ascii', ''])(
    'may not have the charset "%s"',
    async (charset) => {
      const { post } = await tListeningGateway();
      const response = await post(body, { 'content-type': `${plain}; charset=${charset}` });
      expect(response.status).toBe(415);
      expect(response.json().errors[0]?.message).toBe('The charset of the Content-Type header must be utf-8.');
    },
  );

  it('may have the content encoding Identity', async () => {
    const { post } = await tListeningGateway();
    expect((await post(body, { 'content-encoding': 'Identity' })).status).toBe(200);
  });

  it.each([
    ['an ordinary request', body],
    ['a request that Yoga reads', JSON.stringify({ query: '{ __typename }', extensions: { persistedQuery } })],
  ])('may begin with a byte order mark: %s', async (_, text) => {
    const { post } = await tListeningGateway();
    expect((await post(`\ufeff${text}`)).json()).toEqual({ data: { __typename: 'Query' } });
    expect((await post(`\ufeff\ufeff${text}`)).status).toBe(400);
  });
});

describe.each(['GET', 'POST'])('the operation name by %s', (method) => {
  const one = 'query null { __typename }';
  const two = 'query null { __typename } query B { countries { code } }';

  it.each([
    ['', one, 200],
    ['', two, 400],
    ['null', two, 200],
    ['B', one, 400],
  ])('"%s" of %s is answered with %i', async (operationName, query, status) => {
    const { get, post } = await tListeningGateway();
    const params = { query, operationName };
    const response = await (method === 'GET' ? get(params) : post(params));
    expect(response.status).toBe(status);
    expect(response.json().errors?.map(({ extensions }) => extensions.code)).toEqual(
      status === 200 ? undefined : ['OPERATION_RESOLUTION_FAILURE'],
    );
  });
});

describe('the status', () => {
  const typed = (query: string, rest: object = {}) => JSON.stringify({ query, ...rest });

  it.each([
    ['invalid JSON', '{"query":', 400, 'BAD_REQUEST'],
    ['no body', '', 400, 'BAD_REQUEST'],
    ['a number', '7', 400, 'BAD_REQUEST'],
    ['null', 'null', 400, 'BAD_REQUEST'],
    ['a batch', '[{"query":"{ __typename }"}]', 400, 'BAD_REQUEST'],
    ['no query', '{}', 400, 'BAD_REQUEST'],
    ['an unknown parameter', '{"qeury":"{ __typename }"}', 400, 'BAD_REQUEST'],
    ['variables that are not an object', typed('{ __typename }', { variables: 'x' }), 400, 'BAD_REQUEST'],
    ['a document that does not parse', typed('{'), 200, 'GRAPHQL_PARSE_FAILED'],
    // The specification recommends 422, the audits of graphql-http 400.
    ['a document that is not valid', typed('{ nothing }'), 200, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'an unknown operation',
      typed('query A { __typename }', { operationName: 'B' }),
      400,
      'OPERATION_RESOLUTION_FAILURE',
    ],
    ['a missing variable', typed('query ($id: ID!) { essay(id: $id) { id } }'), 200, 'BAD_USER_INPUT'],
  ])('of %s', async (_, body, underPlain, code) => {
    const { post, log } = await tListeningGateway();
    const responses = [await post(body, { accept: plain }), await post(body, { accept: graphql })];
    const underGraphql = code === 'OPERATION_RESOLUTION_FAILURE' ? 422 : 400;
    expect(responses.map(({ status }) => status)).toEqual([underPlain, underGraphql]);
    for (const response of responses) {
      expect(response.json()).not.toHaveProperty('data');
      const requestId = response.headers['x-request-id'];
      expect(response.json().errors[0]?.extensions).toEqual({ code, service: null, retryable: false, requestId });
    }
    expect(log()).not.toContain('unexpected error');
  });

  const failing = [401, 403, 404, 429, 500, 503];
  it.each(failing)('of a field whose upstream responds %i is 200 or 294 by media type', async (upstreamStatus) => {
    const upstream = await tUpstream(replyJson(upstreamStatus, {}));
    const { post } = await tListeningGateway({}, upstream);
    for (const [accept, status] of [
      [plain, 200],
      [graphql, 294],
    ] as const) {
      const response = await post({ query: german }, { accept });
      expect(response.status).toBe(status);
      expect(response.headers['cache-control']).toBe('no-store');
      expect(response.json()).toMatchObject({
        data: { ibanValidation: { valid: null } },
        errors: [{ path: ['ibanValidation', 'valid'] }],
      });
    }
  });

  const order = 'mutation { generateEssay(input: { description: "Pens", wordCount: 9 }) { __typename } }';
  it.each([
    ['GET', order, 'POST'],
    ['HEAD', german, graphqlMethods],
    ['PUT', german, graphqlMethods],
    ['DELETE', german, graphqlMethods],
  ])('of %s with %s is 405, and no upstream is called', async (method, query, allow) => {
    const { url, upstream } = await tListeningGateway();
    const target = `${url}?query=${encodeURIComponent(query)}`;
    const { status, headers } = await tSend(target, { method, headers: { 'graphql-require-preflight': 'true' } });
    expect([status, headers.allow]).toEqual([405, allow]);
    expect(upstream.calls).toHaveLength(0);
  });

  it('294 has its name in the status line', async () => {
    const { url } = await tListeningGateway({}, await tUpstream(replyJson(500, {})));
    const headers = { 'content-type': plain, accept: graphql };
    const { status, statusText } = await fetch(url, { method: 'POST', headers, body: typed(german) });
    expect([status, statusText]).toEqual([294, 'Partial Success']);
  });

  it('of a mutation, of which no part failed, is 200 if an order is refused: that is a result', async () => {
    const { post } = await tListeningGateway();
    const query = 'mutation { generateEssay(input: { description: "", wordCount: 9 }) { __typename } }';
    const response = await post({ query }, { accept: graphql });
    expect([response.status, response.json().data]).toEqual([
      200,
      { generateEssay: { __typename: 'InvalidEssayInput' } },
    ]);
  });

  it('of a GET with variables and an operation name is 200', async () => {
    const { get } = await tListeningGateway();
    const query = 'query A { __typename } query B($code: String!) { country(code: $code) { name } }';
    const response = await get({ query, operationName: 'B', variables: '{"code":"DE"}', extensions: '{}' });
    expect(response.status).toBe(200);
    expect(response.json().data).toEqual({ country: { name: 'Germany' } });
  });
});

describe('an unknown parameter', () => {
  const others = { id: '1', documentId: 'unknown', onError: 'ABORT', foo: { bar: [1] }, __proto: null };
  const query = 'query ($code: String!) { country(code: $code) { name } }';
  const variables = { code: 'DE' };
  const germany = { data: { country: { name: 'Germany' } } };

  it.each([
    ['an ordinary request', {}],
    ['a request that Yoga reads', { extensions: { persistedQuery: createPersistedQuery(query) } }],
  ])('is ignored in the body of %s', async (_, rest) => {
    const { post } = await tListeningGateway();
    const response = await post({ ...others, query, variables, ...rest });
    expect([response.status, response.json()]).toEqual([200, germany]);
  });

  it('is ignored in a URL', async () => {
    const { get } = await tListeningGateway();
    const response = await get({
      id: '1',
      documentId: 'unknown',
      foo: '{',
      query,
      variables: JSON.stringify(variables),
    });
    expect([response.status, response.json()]).toEqual([200, germany]);
  });
});
