import { describe, expect, it, vi } from 'vitest';
import type { BankDataPort, IbanValidation } from '../../src/bank-data/bank-data.ts';
import { createContext, type Services } from '../../src/graphql/schema/context.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { buildIban } from '../../src/iban/build-iban.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };
import { tCaller } from '../support/caller.ts';
import { tServer } from '../support/federation/server.ts';
import { tScriptedGateway } from '../support/gateway.ts';
import { type Reply, replyJson } from '../support/scripted-upstream.ts';

const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
  __typename ... on IbanValidation { iban valid } ... on IbanCountry { code name } ... on Bank { bic bankName: name } } }`;

const echo: Reply = (response, call) => {
  if (call.path === '/bank_data/swift_check') {
    return replyJson(200, { valid: true, bank_data: { name: 'A bank', swift: call.query.get('swift_code') } })(
      response,
      call,
    );
  }
  return replyJson(200, { valid: true })(response, call);
};

const ibans = vectors.valid.filter(({ scope }) => scope === 'registry').map(({ iban }) => iban);

describe('_entities', () => {
  it('resolves each entity type by its key', async () => {
    const { ask } = await tScriptedGateway(echo);
    const representations = [
      { __typename: 'IbanValidation', iban: 'de89 3704 0044 0532 0130 00' },
      { __typename: 'IbanCountry', code: 'FR' },
      { __typename: 'Bank', bic: 'COBADEFFXXX' },
      { __typename: 'IbanCountry', code: 'US' },
    ];
    expect(await ask(query, { representations })).toEqual({
      data: {
        _entities: [
          { __typename: 'IbanValidation', iban: 'DE89370400440532013000', valid: true },
          { __typename: 'IbanCountry', code: 'FR', name: 'France' },
          { __typename: 'Bank', bic: 'COBADEFFXXX', bankName: 'A bank' },
          null,
        ],
      },
    });
  });

  it('makes 500 calls for 1,000 representations of 500 IBANs', async () => {
    const { ask, upstream } = await tScriptedGateway(echo);
    const { data, errors } = await ask(query, { representations: twice(germanIbans(500)) });
    expect(errors).toBeUndefined();
    expect(data?._entities).toHaveLength(1_000);
    expect(upstream.calls).toHaveLength(500);
  });

  it('resolves them in one batch, from frozen cache entries without changing them', async () => {
    const lookUps: string[] = [];
    const cache = new Map<string, IbanValidation>();
    const bankData = {
      async validateIban(iban) {
        lookUps.push(iban);
        // Answers only when the whole batch has arrived.
        await vi.waitFor(() => expect(lookUps).toHaveLength(500), { timeout: 20_000 });
        return readCached(cache, iban);
      },
    } as Partial<BankDataPort> as BankDataPort;
    const limits = { ibans: 1_000, bics: 1_000, bankQueries: 20, essayTexts: 20, essays: 5, entities: 1_000 };
    const services = { bankData, limits } as Partial<Services> as Services;
    const ask = tServer({ schema, createContext: ({ signal }) => createContext(services, tCaller, signal) });
    const fiveHundred = germanIbans(500);
    const before = new Map(fiveHundred.map((iban) => [iban, JSON.stringify(readCached(cache, iban))]));
    const { data, errors } = await ask(query, { representations: twice(fiveHundred) });
    expect(errors).toBeUndefined();
    expect(data?._entities).toHaveLength(1_000);
    expect(lookUps).toEqual(fiveHundred);
    for (const [iban, validation] of cache) {
      expect(JSON.stringify(validation)).toBe(before.get(iban));
      expect(Object.getOwnPropertyNames(validation)).not.toContain('__typename');
    }
  });

  it('nulls only invalid or failed representations, with errors at their indexes', async () => {
    const [healthy = '', failing = ''] = ibans;
    const { ask, upstream } = await tScriptedGateway((response, call) => {
      const isFailing = call.query.get('iban_number') === failing;
      return (isFailing ? replyJson(404, {}) : echo)(response, call);
    });
    const representations = [
      { __typename: 'IbanValidation', iban: healthy },
      { __typename: 'Payee', id: 1 },
      { iban: healthy },
      { __typename: 'IbanValidation' },
      { __typename: 'IbanValidation', iban: 7 },
      { __typename: 'IbanValidation', iban: failing },
      'IbanValidation',
      { __typename: 'IbanValidation', iban: healthy },
      { __typename: 'IbanValidation', iban: failing.toLowerCase() },
    ];
    const { data, errors } = await ask(query, { representations });
    const answer = { __typename: 'IbanValidation', iban: healthy, valid: true };
    expect(data?._entities).toEqual([answer, null, null, null, null, null, null, answer, null]);
    const codes = Object.fromEntries((errors ?? []).map(({ path, extensions }) => [path?.[1], extensions.code]));
    expect(codes).toEqual({
      1: 'BAD_USER_INPUT',
      2: 'BAD_USER_INPUT',
      3: 'BAD_USER_INPUT',
      4: 'BAD_USER_INPUT',
      5: 'UPSTREAM_FAILED',
      6: 'BAD_USER_INPUT',
      8: 'UPSTREAM_FAILED',
    });
    expect(upstream.calls).toHaveLength(2);
  });

  it('resolves cached IBANs without changing the cache', async () => {
    const { ask, upstream } = await tScriptedGateway(echo);
    const representations = [{ __typename: 'IbanValidation', iban: ibans[0] }];
    const first = await ask(query, { representations });
    expect(await ask(query, { representations })).toEqual(first);
    expect(await ask(`{ ibanValidation(iban: "${ibans[0]}") { __typename valid } }`)).toEqual({
      data: { ibanValidation: { __typename: 'IbanValidation', valid: true } },
    });
    expect(upstream.calls).toHaveLength(1);
  });
});

function germanIbans(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const generated = buildIban({ country: 'DE', bankCode: '37040044', accountNumber: String(index) });
    return generated.kind === 'iban' ? generated.iban : '';
  });
}

function twice(keys: readonly string[]) {
  return [...keys, ...keys].map((iban) => ({ __typename: 'IbanValidation', iban }));
}

/** Like a cache, returns the same frozen object every time. */
function readCached(cache: Map<string, IbanValidation>, iban: string): IbanValidation {
  const blank = { problems: Object.freeze([]), ibanData: null, bankData: null, countryIbanExample: null };
  const validation = cache.get(iban) ?? Object.freeze({ iban, valid: true, ...blank });
  cache.set(iban, validation);
  return validation;
}
