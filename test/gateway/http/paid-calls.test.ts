import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tIban } from '../../support/e2e/iban.ts';
import { as, tCallers, ways } from '../../support/gateway/http/callers.ts';
import { replyAsHosted } from '../../support/hosted-bank-data.ts';
import { rounds } from '../../support/rounds.ts';
import { type Reply, replyJson, tUpstream, type UpstreamCall } from '../../support/scripted-upstream.ts';

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

describe('the header Paid-Calls-Max', () => {
  it('refuses what may cost more before the first call, and otherwise lets a request make no more', async () => {
    const { ask, upstream } = await tQuoting();
    const query = `{ ibanValidations(ibans: ${JSON.stringify([1, 2, 3].map(tIban))}) { valid } }`;
    const refused = (await ask(query, { 'paid-calls-max': '2' })).json();
    expect(refused).toMatchObject({
      errors: [{ extensions: { code: 'PAID_CALLS_EXCEEDED' } }],
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
});

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
