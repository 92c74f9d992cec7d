import { type GraphQLObjectType, getNamedType, isObjectType, parse } from 'graphql';
import { describe, expect, it, vi } from 'vitest';
import { printSubgraph } from '../../../scripts/print-schema.ts';
import { findCacheScope } from '../../../src/gateway/graphql/documents/cache-scope.ts';
import { cacheControlOf } from '../../../src/gateway/graphql/request/reply.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';

const german = 'DE89370400440532013000';
const dayS = 86_400;

async function tHeaders(env: Record<string, string> = {}) {
  const { postLocally, upstream } = await tScriptedGateway(replyJson(200, { valid: true }), env);
  const post = async (query: string, headers: Record<string, string> = {}) =>
    (await postLocally({ query }, headers)).headers.get('cache-control') ?? '';
  return { post, upstream };
}

function maxAgeOf(cacheControl: string): number {
  return Number(cacheControl.match(/max-age=(\d+)$/)?.[1]);
}

describe('the scope of an answer', () => {
  const validation = `ibanValidation(iban: "${german}") { valid }`;

  const entities = (selection: string) => `query ($r: [_Any!]!) { _entities(representations: $r) { ${selection} } }`;

  it.each([
    ['public', '{ country(code: "DE") { name } bankLists { source country { name } } }'],
    ['public', '{ __typename countries { code ibanFields { name } } }'],
    ['public', '{ bank(bic: "COBADEFFXXX") { name } banks { nodes { name } pageInfo { endCursor } } }'],
    ['public', entities('... on IbanCountry { name } ... on BankData { name }')],
    ['private', `{ ${validation} }`],
    ['private', `{ country(code: "DE") { name } ${validation} }`],
    ['private', `${entities('...v')} fragment v on IbanValidation { valid }`],
    ['private', '{ bicValidation(bic: "COBADEFF") { bic } }'],
    ['private', '{ generateIban(input: { country: "DE" }) { __typename } }'],
    ['none', '{ allowances { used } }'],
    ['none', '{ essay(id: "1") { text } }'],
    ['none', `{ ${validation} allowances { used } }`],
    ['none', '{ _service { sdl } }'],
    ['none', '{ __schema { queryType { name } } }'],
    ['none', '{ __typename }'],
    ['none', entities('__typename')],
    ['none', 'mutation { generateEssay(input: { description: "Tea", wordCount: 9 }) { __typename } }'],
  ])('is %s for %s', (scope, query) => {
    expect(findCacheScope(parse(query), schema)).toBe(scope);
  });
});

describe('personal data', () => {
  const tagged = [...printSubgraph().matchAll(/^type (\w+)[^{]*\{\n([\s\S]*?)^\}/gm)]
    .filter(([, , fields]) => fields?.includes('@tag(name: "personal-data")'))
    .map(([, name = '']) => name);

  /** The type and the types inside it that declare no scope of their own. */
  function typesWithin(type: GraphQLObjectType, seen = new Set<string>()): Set<string> {
    seen.add(type.name);
    for (const field of Object.values(type.getFields())) {
      const inner = getNamedType(field.type);
      if (isObjectType(inner) && inner.extensions.cacheScope === undefined && !seen.has(inner.name))
        typesWithin(inner, seen);
    }
    return seen;
  }

  it('is in no publicly cacheable type', () => {
    expect(tagged).toEqual(['IbanData', 'IbanFormat', 'IbanValidation', 'InvalidIbanFields', 'Query']);
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    const cacheable = types
      .filter(({ extensions }) => extensions.cacheScope === 'public')
      .flatMap((type) => [...typesWithin(type)]);
    expect(cacheable).toContain('BankDataEdge');
    expect(cacheable.filter((name) => tagged.includes(name))).toEqual([]);
  });
});

describe('Cache-Control', () => {
  it('is private for an IBAN, and max-age is the time left until the oldest look-up is stale', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { post } = await tHeaders({ BANK_DATA_FRESH_S: '1000' });
    const query = `{ ibanValidation(iban: "${german}") { valid } }`;
    const first = await post(query);
    expect(first).toMatch(/^private, max-age=\d+$/);
    expect(maxAgeOf(first)).toBeGreaterThanOrEqual(899);
    expect(maxAgeOf(first)).toBeLessThanOrEqual(1_100);
    vi.advanceTimersByTime(600_000);
    expect(maxAgeOf(await post(query))).toBe(maxAgeOf(first) - 600);
    const both = `{ ibanValidations(ibans: ["${german}", "NL91ABNA0417164300"]) { valid } }`;
    expect(maxAgeOf(await post(both))).toBe(maxAgeOf(first) - 600);
  });

  it.each([
    [Number.NaN, 'no-store'],
    [0.9, 'no-store'],
    [1, 'private, max-age=1'],
    [3_599.9, 'private, max-age=3599'],
    [86_399, 'private, max-age=86399'],
    [90_000, 'private, max-age=86400'],
    [Number.POSITIVE_INFINITY, 'private, max-age=86400'],
  ])('of an answer that is fresh for %s s is %s: in whole minutes if that is more than an hour', (freshS, expected) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const fresh = { freshUntil: Date.now() + 1_000 * freshS };
    expect(cacheControlOf('private', fresh)).toBe(expected);
  });

  it('is no-store for a stale value, an error, a partial result, allowances and orders', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { post, upstream } = await tHeaders({ BANK_DATA_FRESH_S: '1000' });
    const query = `{ ibanValidation(iban: "${german}") { valid } }`;
    await post(query);
    vi.advanceTimersByTime(2_000_000);
    upstream.answers(replyJson(500, {}));
    for (const other of [
      query,
      '{ ibanValidation(iban: "NL91ABNA0417164300") { valid } country(code: "DE") { name } }',
      '{ nothing }',
      '{',
      '{ allowances { used } }',
      'mutation { generateEssay(input: { description: "", wordCount: 9 }) { __typename } }',
    ])
      expect(await post(other), other).toBe('no-store');
  });

  it.each([{ 'x-cost': '1' }, { 'apollo-federation-include-trace': 'ftv1' }])(
    'is no-store for an answer with its own cost or trace, requested by %j',
    async (headers) => {
      const { post } = await tHeaders({ ANONYMOUS_SCOPES: 'bank-data+essays+traces+cost' });
      expect(await post('{ country(code: "DE") { name } }', headers as Record<string, string>)).toBe('no-store');
    },
  );

  it('ignores a request for a cost and a trace that are not configured', async () => {
    const { post } = await tHeaders();
    const headers = { 'apollo-federation-include-trace': 'ftv1', 'x-cost': '1' };
    expect(await post('{ country(code: "DE") { name } }', headers)).toBe(`public, max-age=${dayS}`);
  });

  it('comes with all headers that change the answer in Vary, from any origin', async () => {
    const { get } = await tListeningGateway({
      CORS_ORIGINS: 'https://shop.example',
      ANONYMOUS_SCOPES: 'bank-data+essays+traces+cost',
    });
    for (const headers of [{}, { origin: 'https://shop.example' }] as Record<string, string>[]) {
      const answer = await get({ query: '{ country(code: "DE") { name } }' }, headers);
      expect(answer.headers['cache-control']).toBe(`public, max-age=${dayS}`);
      const vary = answer.headers.vary?.toLowerCase().split(', ').sort();
      expect(vary).toEqual([
        'accept',
        'accept-encoding',
        'apollo-federation-include-trace',
        'origin',
        'paid-calls',
        'x-cost',
      ]);
      expect(answer.json()).toEqual({ data: { country: { name: 'Germany' } } });
    }
  });
});
