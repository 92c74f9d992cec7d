import { describe, expect, it } from 'vitest';
import { tListeningGateway, tSend } from '../support/http/listening-gateway.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* Media types and statuses, according to https://graphql.github.io/graphql-over-http/draft/ */

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
    expect(responses.map(({ status }) => status)).toEqual([underPlain, 400]);
    for (const response of responses) {
      expect(response.json()).not.toHaveProperty('data');
      const requestId = response.headers['x-request-id'];
      expect(response.json().errors[0]?.extensions).toEqual({ code, service: null, retryable: false, requestId });
    }
    expect(log()).not.toContain('unexpected error');
  });

  it.each([401, 403, 404, 429, 500, 503])('is 200 although that of the upstream is %i', async (upstreamStatus) => {
    const upstream = await tUpstream(replyJson(upstreamStatus, {}));
    const { post } = await tListeningGateway({}, upstream);
    for (const accept of [plain, graphql]) {
      const response = await post({ query: german }, { accept });
      expect(response.status).toBe(200);
      expect(response.json()).toMatchObject({ data: { ibanValidation: null }, errors: [{ path: ['ibanValidation'] }] });
    }
  });

  const order = 'mutation { generateEssay(input: { description: "Pens", wordCount: 9 }) { __typename } }';
  it.each([
    ['GET', order, 'POST'],
    ['HEAD', german, 'GET, POST'],
    ['PUT', german, 'GET, POST'],
    ['DELETE', german, 'GET, POST'],
  ])('of %s with %s is 405, and no upstream is called', async (method, query, allow) => {
    const { url, upstream } = await tListeningGateway();
    const target = `${url}?query=${encodeURIComponent(query)}`;
    const { status, headers } = await tSend(target, { method, headers: { 'apollo-require-preflight': 'true' } });
    expect([status, headers.allow]).toEqual([405, allow]);
    expect(upstream.calls).toHaveLength(0);
  });

  it('of a GET with variables and an operation name is 200', async () => {
    const { get } = await tListeningGateway();
    const query = 'query A { __typename } query B($code: String!) { country(code: $code) { name } }';
    const response = await get({ query, operationName: 'B', variables: '{"code":"DE"}', extensions: '{}' });
    expect(response.status).toBe(200);
    expect(response.json().data).toEqual({ country: { name: 'Germany' } });
  });
});
