import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { as, tCallers, ways } from '../../support/gateway/callers.ts';
import { tIban } from '../../support/ibans.ts';
import { rounds } from '../../support/random.ts';
import { tRedis, whyNoRedis } from '../../support/redis.ts';
import { type Reply, replyJson, tUpstream, type UpstreamCall } from '../../support/scripted-upstream.ts';
import { replyAsHosted } from '../../support/self-hosted.ts';

const callers = { shop: 'bank-data+essays+cost', plain: 'bank-data+essays' };
const essay = { description: 'Pens', wordCount: 100 };
const order = `mutation ($input: GenerateEssayInput!) { generateEssay(input: $input) { __typename } }`;

/** Every IBAN is valid, a list has ten banks a page, and an essay is written. */
const answers: Reply = (response, call) => {
  if (call.method === 'POST') return replyJson(200, { essay: 'An essay about pens.' })(response, call);
  const iban = call.query.get('iban_number');
  if (iban !== null) return replyJson(200, { valid: true, iban })(response, call);
  return replyAsHosted(call)(response, call);
};

/** As the self-hosted service does, where several banks share a BIC. */
const replyWithLists: Reply = (response, call) =>
  (call.method === 'POST' ? answers : replyAsHosted(call))(response, call);

async function tQuoting(reply: Reply = answers) {
  const gateway = await tCallers({ callers, upstream: await tUpstream(reply) });
  const ask = (query: string, headers = {}, variables = {}) =>
    gateway.post({ query, variables }, { ...as('shop'), ...headers });
  return {
    ...gateway,
    ask,
    async quote(query: string, variables = {}) {
      const before = gateway.upstream.calls.length;
      const { data, errors, extensions } = (await ask(query, { 'paid-calls': 'quote' }, variables)).json() as {
        data: unknown;
        errors?: unknown;
        extensions: { quote: { bankData: number; essays: number } };
      };
      expect([data, errors, gateway.upstream.calls.length]).toEqual([null, undefined, before]);
      return extensions.quote;
    },
  };
}

/** Fields of a query about few IBANs, BICs and lists, so that some are known already. */
const anyFields = fc.array(
  fc.oneof(
    fc.nat(9).map((n) => `ibanValidation(iban: "${tIban(n)}") { valid }`),
    fc.nat(9).map((n) => `ibanValidation(iban: "${tIban(n)}") { format { printFormat } }`),
    fc.constant('ibanValidation(iban: "DE00370400440532013000") { valid }'),
    fc
      .array(fc.nat(9), { maxLength: 5 })
      .map((list) => `ibanValidations(ibans: ${JSON.stringify(list.map(tIban))}) { valid }`),
    fc.constantFrom('COBADEFF', 'BELADEBE').map((bic) => `bicValidation(bic: "${bic}") { valid }`),
    fc.nat(2).map((n) => `banks(country: "DE", first: ${5 + 10 * n}) { edges { node { name } } }`),
  ),
  { minLength: 1, maxLength: 5 },
);
const toQuery = (fields: readonly string[]) => `{ ${fields.map((field, index) => `f${index}: ${field}`).join(' ')} }`;

describe('the header Paid-Calls', () => {
  it('quotes what an operation would pay for: never less than it then makes, and the look-ups exactly', async () => {
    const { ask, quote, upstream } = await tQuoting();
    await fc.assert(
      fc.asyncProperty(anyFields, async (fields) => {
        const query = toQuery(fields);
        const quoted = await quote(query);
        const before = upstream.calls.length;
        await ask(query);
        const calls = upstream.calls.length - before;
        expect(calls).toBeLessThanOrEqual(quoted.bankData);
        if (!query.includes('banks(')) expect(calls).toBe(quoted.bankData);
        expect(quoted.essays).toBe(0);
      }),
      { numRuns: rounds(20) },
    );
  });

  it('counts an order until its key has been paid for, and changes nothing', async () => {
    const { ask, quote } = await tQuoting();
    const input = { ...essay, idempotencyKey: 'quoted' };
    expect(await quote(order, { input: essay })).toEqual({ bankData: 0, essays: 1 });
    expect(await quote(order, { input })).toEqual({ bankData: 0, essays: 1 });
    expect((await ask(order, {}, { input })).json().data).toEqual({ generateEssay: { __typename: 'Essay' } });
    expect(await quote(order, { input })).toEqual({ bankData: 0, essays: 0 });
  });
});

it.each([
  [
    'a bank by its id, which is in a list if its BIC is that of another one',
    { price: '{ node(id: "DE:10000022:COBADEFFXXX") { id } }' },
  ],
  [
    'an order whose key is free again, as the order is deleted before',
    {
      first:
        'mutation { generateEssay(input: { description: "Pens", wordCount: 9, idempotencyKey: "k" }) { __typename } }',
      id: '{ essayOrder(idempotencyKey: "k") { id } }',
      price:
        'mutation { deleteEssayOrder(id: "ID") { __typename } generateEssay(input: { description: "Pens", wordCount: 9, idempotencyKey: "k" }) { __typename } }',
    },
  ],
])('a quote is never less than what is paid: %s', async (_, { price, first, id }: Record<string, string>) => {
  const { ask, quote, upstream } = await tQuoting(replyWithLists);
  if (first) await ask(first);
  const found = id ? ((await ask(id)).json().data as { essayOrder: { id: string } }).essayOrder.id : '';
  const query = String(price).replace('ID', found);
  const before = upstream.calls.length;
  const { bankData, essays } = await quote(query);
  await ask(query);
  expect(upstream.calls.length).toBeGreaterThan(before);
  expect(upstream.calls.length - before).toBeLessThanOrEqual(bankData + essays);
});

it('the cost of a request has only calls that were sent', async () => {
  const upstream = await tUpstream(answers);
  const { post } = await tCallers({ callers, upstream, env: { BANK_DATA_PRICE: '0.01 EUR' } });
  await upstream.stop();
  const query = `{ ibanValidation(iban: "${tIban(1)}") { valid } }`;
  const reply = await post({ query }, { ...as('shop'), 'x-cost': '1' });
  expect(reply.json()).toMatchObject({ extensions: { cost: { upstreamCalls: 0, price: [] } } });
});

describe('the header Paid-Calls-Max', () => {
  it('refuses what may cost more before the first call, and otherwise lets a request make no more', async () => {
    const { ask, upstream } = await tQuoting();
    const query = `{ ibanValidations(ibans: ${JSON.stringify([1, 2, 3].map(tIban))}) { valid } }`;
    const refused = (await ask(query, { 'paid-calls-max': '2' })).json();
    expect(refused).toMatchObject({
      errors: [
        {
          message: expect.stringMatching(/ up to 3 paid calls to the bank-data service; the request allows 2 /),
          extensions: { code: 'PAID_CALLS_EXCEEDED' },
        },
      ],
      extensions: { quote: { bankData: 3, essays: 0 } },
    });
    expect(upstream.calls).toEqual([]);
    expect((await ask(query, { 'paid-calls-max': '3' })).json().errors).toBeUndefined();
    expect((await ask(query, { 'paid-calls-max': '0' })).json().errors).toBeUndefined();
    expect(upstream.calls).toHaveLength(3);
  });

  it('holds for retries, and for each of forty requests at a time', async () => {
    const { ask, upstream } = await tQuoting(replyJson(503, {}));
    const asked = (n: number) => [tIban(2 * n), tIban(2 * n + 1)];
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        ask(`{ ibanValidations(ibans: ${JSON.stringify(asked(n))}) { valid } }`, { 'paid-calls-max': '2' }),
      ),
    );
    const callsOf = (ibans: readonly string[]) =>
      upstream.calls.filter(({ query }: UpstreamCall) => ibans.includes(query.get('iban_number') ?? '')).length;
    for (const [n, { status }] of all.entries()) {
      expect(status).toBe(200);
      expect(callsOf(asked(n))).toBeLessThanOrEqual(2);
    }
  });

  it('holds for started orders, which are written later: each is sent once, without retries', async () => {
    const { ask, upstream } = await tQuoting(replyJson(503, {}));
    const start = (key: string) => `startEssay(input: { description: "Pens", wordCount: 9, idempotencyKey: "${key}" })`;
    const limit = { 'paid-calls-max': '2' };
    const started = await ask(`mutation { a: ${start('1')} { __typename } b: ${start('2')} { __typename } }`, limit);
    expect(started.json().data).toEqual({ a: { __typename: 'EssayOrder' }, b: { __typename: 'EssayOrder' } });
    const failure = '... on EssayFailed { failure { ... on UserError { message } } }';
    const expected = { essayOrder: { state: { failure: { message: 'The essay service failed.' } } } };
    const isFailed = async () =>
      expect((await ask(`{ essayOrder(idempotencyKey: "2") { state { ${failure} } } }`)).json().data).toEqual(expected);
    await vi.waitFor(isFailed, { interval: 5, timeout: 100_000 });
    expect(upstream.calls).toHaveLength(2);
  });

  it('leaves no call for an order when all were made for the one before it', async () => {
    const { ask, upstream } = await tQuoting(replyJson(503, {}));
    const two = `mutation {
      a: generateEssay(input: { description: "Pens", wordCount: 9 }) { __typename }
      b: startEssay(input: { description: "Pens", wordCount: 9, idempotencyKey: "1" }) { ... on UserError { message } }
    }`;
    expect((await ask(two, { 'paid-calls-max': '2' })).json().data).toEqual({
      a: { __typename: 'EssayServiceFailed' },
      b: { message: expect.stringContaining('may make no further paid calls') },
    });
    expect(upstream.calls).toHaveLength(2);
  });
});

it.skipIf(whyNoRedis !== '')(
  `no request makes more calls than its limit, with forty at a time over two gateways${whyNoRedis}`,
  async () => {
    const redis = await tRedis();
    const upstream = await tUpstream((response, call) => {
      // One in four fails, and is retried.
      const isFailing = (call.query.get('iban_number') ?? '').endsWith('0');
      return (isFailing ? replyJson(503, {}) : answers)(response, call);
    });
    const env = { REDIS_URL: redis.url, STORE_SECRET: 'seeded-store-secret-of-32-characters', REPLICAS: '2' };
    const gateways = await Promise.all([1, 2].map(() => tCallers({ callers, upstream, env })));
    const ask = (index: number, ibans: readonly string[], headers: object) =>
      gateways[index % 2]?.post(
        { query: `{ ibanValidations(ibans: ${JSON.stringify(ibans)}) { valid } }` },
        { ...as('shop'), ...headers, 'x-cost': '1' },
      ) ?? expect.unreachable();
    const request = fc.record({ max: fc.nat(4), ibans: fc.array(fc.nat(59), { maxLength: 5 }) });
    let used = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 40, maxLength: 40 }),
        fc.array(fc.nat(59), { maxLength: 20 }),
        async (requests, known) => {
          // No earlier run has looked these up.
          const ibanOf = (n: number) => tIban(used + n);
          await ask(0, known.map(ibanOf), {});
          const before = upstream.calls.length;
          const all = await Promise.all(
            requests.map(({ max, ibans }, index) => ask(index, ibans.map(ibanOf), { 'paid-calls-max': String(max) })),
          );
          const costs = all.map((reply) => {
            const { extensions } = reply.json() as { extensions?: { cost?: { upstreamCalls: number } } };
            return extensions?.cost?.upstreamCalls ?? 0;
          });
          for (const [index, { max }] of requests.entries()) expect(costs[index]).toBeLessThanOrEqual(max);
          const made = upstream.calls.length - before;
          expect(costs.reduce((sum, cost) => sum + cost)).toBe(made);
          expect(made).toBeGreaterThan(0);
          used += 60;
        },
      ),
      { numRuns: rounds(3) },
    );
  },
);

it.each(ways)('both need the scope cost, and values that they know, when they are answered %s', async (way) => {
  const { send, upstream } = await tQuoting();
  const codeOf = async (name: string, headers: Record<string, string>) => {
    const query = `{ ibanValidation(iban: "${tIban(1)}") { valid } }`;
    return (await send(way, { query }, { ...as(name), ...headers })).json().errors[0]?.extensions.code;
  };
  expect(await codeOf('plain', { 'paid-calls': 'quote' })).toBe('FORBIDDEN');
  expect(await codeOf('plain', { 'paid-calls-max': '5' })).toBe('FORBIDDEN');
  expect(await codeOf('shop', { 'paid-calls': 'yes' })).toBe('BAD_USER_INPUT');
  expect(await codeOf('shop', { 'paid-calls-max': '1.5' })).toBe('BAD_USER_INPUT');
  expect(upstream.calls).toEqual([]);
});
