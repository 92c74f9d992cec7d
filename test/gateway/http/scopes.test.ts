// Names that a client has written wrongly. cspell:ignore bankcode contry countr inptu kode
import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { as, contentOf, tCallers, ways } from '../../support/gateway/callers.ts';
import { entities, scopedFields, selectionOf } from '../../support/gateway/graphql/documents.ts';
import type { Received } from '../../support/gateway/http/listening-gateway.ts';

const iban = 'DE89370400440532013000';
const generation = 'query ($i: GenerateIbanInput!) { generateIban(input: $i) { __typename } }';

const callers = {
  bank: 'bank-data',
  writer: 'essays',
  reader: 'introspection',
  traced: 'bank-data+traces',
  developer: 'bank-data+essays+introspection+graphiql+traces+cost',
};
const withoutScope = { 'bank-data': 'writer', essays: 'bank', introspection: 'bank' };

const tScopes = (env = {}) => tCallers({ callers, env });

describe.each(scopedFields)('$name', ({ type, field, name }) => {
  const scope = field.extensions.scope as keyof typeof withoutScope;
  const headers = as(withoutScope[scope]);
  const selection = selectionOf(field);
  const isQuery = type === 'Query';
  const operation = isQuery ? 'query' : 'mutation';

  it.each(isQuery ? ways : (['directly'] as const))(`is forbidden without the scope ${scope}, %s`, async (way) => {
    const { send, upstream } = await tScopes();
    const queries: [query: string, path: string][] = [
      [`${operation} { ${selection} }`, field.name],
      [`${operation} { other: ${selection} }`, 'other'],
      [`${operation} { ... { ... on ${type} { ${selection} } } }`, field.name],
      [`${operation} { ...F } fragment F on ${type} { a: ${selection} }`, 'a'],
      [`${operation} ($yes: Boolean = true) { b: ${selectionOf(field, ' @include(if: $yes)')} }`, 'b'],
    ];
    for (const [query, path] of queries) {
      // Later, it may be compiled: see test/gateway/graphql/scopes.test.ts.
      for (let count = 0; count < 3; count += 1) {
        const received = await send(way, { query }, headers);
        expect(contentOf(received).errors, `${name}: ${query}`).toEqual([['FORBIDDEN', [path]]]);
        expect(received).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
        const message = `This needs the scope ${scope}, which the caller does not have.`;
        expect(received.json().errors).toMatchObject([{ message }]);
      }
    }
    expect(upstream.calls).toEqual([]);
  });
});

describe.each(ways)('a request that is answered %s', (way) => {
  it('gets the fields in its scope, and an error at the path of each other one', async () => {
    const { send } = await tScopes();
    const query = `{ here: ibanValidations(ibans: ["${iban}"]) { valid } essay(id: "1") { text } country(code: "DE") { name } }`;
    const bank = contentOf(await send(way, { query }, as('bank')));
    expect(bank).toEqual({
      data: { here: [{ valid: true }], essay: null, country: { name: 'Germany' } },
      errors: [['FORBIDDEN', ['essay']]],
    });
    const optional = '{ essay(id: "1") { text } country(code: "DE") { name } }';
    expect(contentOf(await send(way, { query: optional }, as('writer')))).toEqual({
      data: { essay: null, country: null },
      errors: [['FORBIDDEN', ['country']]],
    });
  });

  it('gets no entity outside its scope', async () => {
    const { send, upstream } = await tScopes();
    const keys: Record<string, object> = { IbanValidation: { iban }, IbanCountry: { code: 'DE' } };
    const bank = { id: 'ZZ:1:' };
    const representations = entities.map(({ name }) => ({ __typename: name, ...(keys[name] ?? bank) }));
    const query =
      'query ($representations: [_Any!]!) { all: _entities(representations: $representations) { __typename } }';
    for (let count = 0; count < 3; count += 1) {
      const { data, errors } = contentOf(await send(way, { query, variables: { representations } }, as('writer')));
      expect(data).toEqual({ all: representations.map(() => null) });
      expect(errors).toEqual(representations.map((_, index) => ['FORBIDDEN', ['all', index]]));
    }
    expect(upstream.calls).toEqual([]);
    expect(contentOf(await send(way, { query, variables: { representations } }, as('bank'))).errors).toBeUndefined();
  });

  it('gets no reply that was kept for a caller with other scopes', async () => {
    const { send } = await tScopes();
    const query = '{ country(code: "DE") { name } }';
    for (let count = 0; count < 2; count += 1) {
      for (const caller of ['bank', 'traced'])
        expect((await send(way, { query }, as(caller))).json()).toEqual({ data: { country: { name: 'Germany' } } });
      expect(contentOf(await send(way, { query }, as('writer'))).errors).toEqual([['FORBIDDEN', ['country']]]);
    }
  });

  it.each<[query: string, errors: unknown[], data: object | null]>([
    ['{ __schema { queryType { name } } }', [['FORBIDDEN', ['__schema']]], null],
    ['{ __type(name: "Query") { name } }', [['FORBIDDEN', ['__type']]], { __type: null }],
    [
      'query ($yes: Boolean = true) { __typename ...F ... on Query @include(if: $yes) { a: __type(name: "BankData") { name } } } ' +
        'fragment F on Query { country(code: "DE") { name } b: __type(name: "Query") { name } }',
      [
        ['FORBIDDEN', ['b']],
        ['FORBIDDEN', ['a']],
      ],
      { __typename: 'Query', country: { name: 'Germany' }, b: null, a: null },
    ],
    ['{ _service { sdl } }', [['FORBIDDEN', ['_service']]], null],
    ['{ a: __typename ...F } fragment F on Query { b: _service { sdl } }', [['FORBIDDEN', ['b']]], null],
    [getIntrospectionQuery(), [['FORBIDDEN', ['__schema']]], null],
  ])('may read the schema only with the scope, and gets the other fields: %#', async (query, errors, data) => {
    const { send } = await tScopes();
    // Later, it may be compiled, and its reply kept.
    for (let count = 0; count < 4; count += 1) {
      expect((await send(way, { query }, as('developer'))).json().errors).toBeUndefined();
      const refused = await send(way, { query }, as('bank'));
      expect(contentOf(refused)).toEqual({ data, errors });
      expect(refused).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
      expect(refused.body.toString()).not.toContain('IbanValidation');
    }
    expect((await send(way, { query: '{ __typename }' }, as('bank'))).json()).toEqual({
      data: { __typename: 'Query' },
    });
  });

  it.each<[string, object?]>([
    ['{ contry(code: "DE") { name } }'],
    ['{ country(kode: "DE") { name } }'],
    ['{ country(code: "DE") { nam } }'],
    ['{ country(code: "DE") { ...F } } fragment F on IbanCountr { name }'],
    ['{ generateIban(input: { countr: "DE" }) { __typename } }'],
    [generation, { i: { country: 'DE', bankcode: '1' } }],
    [generation, { i: { country: 'DE', bankcode: 'x'.repeat(855) } }],
    ['query ($i: GenerateIbanInptu!) { generateIban(input: $i) { __typename } }'],
  ])('gets suggestions of names only with the scope introspection: %#', async (query, variables = {}) => {
    const { send } = await tScopes();
    const refused = await send(way, { query, variables }, as('bank'));
    expect(refused.json().errors.length).toBeGreaterThan(0);
    expect(refused.body.toString()).not.toMatch(/Did you mean|suggest/);
    expect((await send(way, { query, variables }, as('developer'))).body.toString()).toContain('Did you mean');
  });

  it('gets cost and traces only with the scope', async () => {
    const { send } = await tScopes();
    const query = `{ ibanValidation(iban: "${iban}") { valid } }`;
    const asked = { 'x-cost': '1', 'apollo-federation-include-trace': 'ftv1' };
    const data = { ibanValidation: { valid: true } };
    expect((await send(way, { query }, { ...as('bank'), ...asked })).json()).toEqual({ data });
    expect((await send(way, { query }, { ...as('developer'), ...asked })).json()).toEqual({
      data,
      extensions: { cost: expect.objectContaining({ lookUps: 1 }), ftv1: expect.any(String) },
    });
  });
});

describe('a request with a trace', () => {
  const traceOf = ({ json }: Received) => {
    const { extensions } = json() as { extensions?: { ftv1?: string } };
    return Buffer.from(extensions?.ftv1 ?? '', 'base64').toString('latin1');
  };

  it('is limited to the scopes of its caller', async () => {
    const { post } = await tScopes();
    const headers = { ...as('traced'), 'apollo-federation-include-trace': 'ftv1' };
    const query = `{ essay(id: "1") { text } ibanValidation(iban: "${iban}") { valid } }`;
    const received = await post({ query }, headers);
    expect(contentOf(received)).toEqual({
      data: { essay: null, ibanValidation: { valid: true } },
      errors: [['FORBIDDEN', ['essay']]],
    });
    expect(traceOf(received)).toContain('ibanValidation');
    for (const query of [
      '{ contry(code: "DE") { name } }',
      '{ _service { sdl } }',
      '{ __schema { types { name } } }',
      '{ t: __type(name: "IbanValidation") { name } }',
      '{ generateIban(input: { countr: "DE" }) { __typename } }',
      generation,
    ]) {
      const refused = await post({ query, variables: { i: { country: 'DE', bankcode: '1' } } }, headers);
      expect(refused.json().errors.length).toBeGreaterThan(0);
      expect(refused.body + traceOf(refused)).not.toMatch(/Did you mean|IbanValidation/);
    }
  });
});

describe('GraphiQL', () => {
  const html = { accept: 'text/html' };

  it.each([
    [{}, {}, 401],
    [{ 'x-api-key': 'wrong' }, {}, 401],
    [as('bank'), {}, 404],
    [as('developer'), {}, 200],
    [{}, { GRAPHIQL: 'on' }, 200],
    [{}, { ANONYMOUS_SCOPES: 'bank-data' }, 404],
    [{}, { ROUTER_SECRET: 'seeded-router-secret-of-32-chars' }, 401],
  ])('with the headers %j and %j has the status %i', async (headers, env, status) => {
    const { url } = await tScopes(env);
    const response = await fetch(url, { headers: { ...html, ...headers } });
    expect(response.status).toBe(status);
    const isPage = response.headers.get('content-type')?.startsWith('text/html');
    expect(isPage).toBe(status === 200);
    expect((await response.text()).includes('<script')).toBe(isPage);
  });
});
