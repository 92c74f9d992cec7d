import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { tGateway } from '../gateway.ts';
import { replyJson, tUpstream } from '../scripted-upstream.ts';

describe('a document', () => {
  it('may have at most MAX_QUERY_TOKENS tokens', async () => {
    const { ask } = tGateway({ env: { MAX_QUERY_TOKENS: '100' } });
    const names = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: __typename`).join(' ');
    expect((await ask(`{ ${names(32)} }`)).errors).toBeUndefined();
    const { data, errors } = await ask(`{ ${names(40)} }`);
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }]);
  });

  it('may introspect like all tools, but not with many aliases', async () => {
    const { ask } = tGateway();
    expect((await ask(getIntrospectionQuery())).errors).toBeUndefined();
    const aliases = Array.from({ length: 30 }, (_, index) => `a${index}: description`).join(' ');
    for (const query of [
      `{ __schema { types { fields { ${aliases} } } } }`,
      `{ __schema { types { fields { ...F } } } } fragment F on __Field { ${aliases} }`,
      `{ ${aliases.replaceAll('description', '_service { sdl }')} }`,
      `{ ${aliases.replaceAll('description', '__schema { description }')} }`,
    ]) {
      const { errors } = await ask(query);
      expect(errors).toMatchObject([{ message: 'Introspection may have at most 10 aliases.' }]);
    }
  });
});

describe('the depth of a document', () => {
  const cycle = (times: number) => `${'territories { parent { '.repeat(times)}code${' } }'.repeat(times)}`;

  it.each([
    ['in one piece', `{ country(code: "FR") { ${cycle(4)} } }`],
    [
      'in fragments',
      `{ ...A } fragment A on Query { country(code: "FR") { ...B } } fragment B on IbanCountry { ${cycle(4)} }`,
    ],
    ['next to a flat field', `{ countries { code } ... { country(code: "FR") { ... { ${cycle(4)} } } } }`],
  ])('is limited, because circular types multiply the answer: %s', async (_, query) => {
    const { data, errors } = await tGateway().ask(query);
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([
      {
        message: 'A query may have at most 8 levels of fields; this one has 10.',
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      },
    ]);
  });

  it('allows 8 levels', async () => {
    const { data } = await tGateway().ask(`{ country(code: "FR") { ${cycle(3)} } }`);
    expect(data?.country?.territories).toHaveLength(12);
  });

  it('is computed for circular fragments, which another rule rejects', async () => {
    const { errors } = await tGateway().ask('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }');
    expect(errors?.map(({ message }) => message).join()).toContain('Cannot spread fragment');
  });
});

describe('an answer', () => {
  it('has at most MAX_IBANS_PER_QUERY IBANs, including repeats', async () => {
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
  it('orders at most MAX_ESSAYS_PER_QUERY essays, including aliases', async () => {
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
  it('has at most 20 lists of banks', async () => {
    const upstream = await tUpstream(replyJson(200, { data: [] }));
    const { ask } = tGateway({ bankDataUrl: upstream.url });
    const lists = Array.from({ length: 30 }, (_, index) => `l${index}: banks(search: "n${index}") { totalCount }`);
    const { errors } = await ask(`{ ${lists.join(' ')} }`);
    expect(errors).toHaveLength(10);
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
    expect(upstream.calls).toHaveLength(20);
  });
});
