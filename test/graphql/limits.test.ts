import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { tGateway } from '../gateway.ts';
import { replyJson, tUpstream } from '../upstream.ts';

/* What a request may not do, however small it is itself. */

describe('a document', () => {
  it('may have MAX_QUERY_TOKENS tokens and no more', async () => {
    const { ask } = tGateway({ env: { MAX_QUERY_TOKENS: '100' } });
    const names = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: __typename`).join(' ');
    expect((await ask(`{ ${names(32)} }`)).errors).toBeUndefined();
    const { data, errors } = await ask(`{ ${names(40)} }`);
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }]);
  });

  it('may introspect as all tools do, but not multiply the answer by aliases', async () => {
    const { ask } = tGateway();
    expect((await ask(getIntrospectionQuery())).errors).toBeUndefined();
    const aliases = Array.from({ length: 30 }, (_, index) => `a${index}: description`).join(' ');
    for (const query of [
      `{ __schema { types { fields { ${aliases} } } } }`,
      `{ __schema { types { fields { ...F } } } } fragment F on __Field { ${aliases} }`,
    ]) {
      const { errors } = await ask(query);
      expect(errors).toMatchObject([{ message: 'Introspection may have at most 10 aliases.' }]);
    }
  });
});

describe('an answer', () => {
  it('has at most MAX_IBANS_PER_QUERY places for IBANs, repeats included', async () => {
    const upstream = await tUpstream(replyJson(200, { valid: true }));
    const { ask } = tGateway({ bankDataUrl: upstream.url, env: { MAX_IBANS_PER_QUERY: '10' } });
    const lists = Array.from({ length: 100 }, (_, index) => `l${index}: ibanValidations(ibans: $ibans) { valid }`);
    const ibans = Array.from({ length: 10 }, () => 'DE89370400440532013000');
    const { data, errors } = await ask(`query ($ibans: [String!]!) { ${lists.join(' ')} }`, { ibans });
    expect(data?.l0).toEqual(ibans.map(() => ({ valid: true })));
    expect(data?.l1).toEqual(ibans.map(() => null));
    expect(errors).toHaveLength(990);
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('a mutation', () => {
  it('orders at most MAX_ESSAYS_PER_QUERY essays, whatever its aliases', async () => {
    const upstream = await tUpstream(replyJson(200, { essay: 'Pens.' }));
    const { ask } = tGateway({ essaysUrl: upstream.url, env: { MAX_ESSAYS_PER_QUERY: '2' } });
    const order = 'generateEssay(input: { description: "Pens", wordCount: 9 }) { __typename }';
    const { data } = await ask(`mutation { a: ${order} b: ${order} c: ${order} }`);
    expect([data?.a, data?.b, data?.c].map((result) => result?.__typename)).toEqual([
      'Essay',
      'Essay',
      'InvalidEssayInput',
    ]);
    expect(upstream.calls).toHaveLength(2);
  });
});

describe('a query', () => {
  it('asks for at most 20 lists of banks', async () => {
    const upstream = await tUpstream(replyJson(200, { data: [] }));
    const { ask } = tGateway({ bankDataUrl: upstream.url });
    const lists = Array.from({ length: 30 }, (_, index) => `l${index}: banks(search: "n${index}") { totalCount }`);
    const { errors } = await ask(`{ ${lists.join(' ')} }`);
    expect(errors).toHaveLength(10);
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
    expect(upstream.calls).toHaveLength(20);
  });
});
