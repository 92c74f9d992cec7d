import { describe, expect, it } from 'vitest';
import vectors from '../data/iban-vectors.json' with { type: 'json' };
import { tGateway } from '../gateway.ts';
import { type Reply, replyJson, tUpstream } from '../upstream.ts';

/* What a router asks of a subgraph. */

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
  it('answers each kind by its key', async () => {
    const upstream = await tUpstream(echo);
    const { ask } = tGateway({ bankDataUrl: upstream.url });
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

  it('looks 1,000 representations of 100 IBANs up in 100 calls', async () => {
    const upstream = await tUpstream(echo);
    const { ask } = tGateway({ bankDataUrl: upstream.url });
    const hundred = ibans.slice(0, 100);
    const representations = Array.from({ length: 1_000 }, (_, index) => ({
      __typename: 'IbanValidation',
      iban: hundred[index % 100],
    }));
    const { data, errors } = await ask(query, { representations });
    expect(errors).toBeUndefined();
    expect(data?._entities).toHaveLength(1_000);
    expect(upstream.calls).toHaveLength(100);
  });

  it('nulls what is wrong or fails at its own index, and nothing else', async () => {
    const [healthy = '', failing = ''] = ibans;
    const upstream = await tUpstream((response, call) => {
      const isFailing = call.query.get('iban_number') === failing;
      return (isFailing ? replyJson(404, {}) : echo)(response, call);
    });
    const { ask } = tGateway({ bankDataUrl: upstream.url });
    const representations = [
      { __typename: 'IbanValidation', iban: healthy },
      { __typename: 'Payee', id: 1 },
      { iban: healthy },
      { __typename: 'IbanValidation' },
      { __typename: 'IbanValidation', iban: 7 },
      { __typename: 'IbanValidation', iban: failing },
      'IbanValidation',
      { __typename: 'IbanValidation', iban: healthy },
    ];
    const { data, errors } = await ask(query, { representations });
    const answer = { __typename: 'IbanValidation', iban: healthy, valid: true };
    expect(data?._entities).toEqual([answer, null, null, null, null, null, null, answer]);
    const codes = Object.fromEntries((errors ?? []).map(({ path, extensions }) => [path?.[1], extensions.code]));
    expect(codes).toEqual({
      1: 'BAD_USER_INPUT',
      2: 'BAD_USER_INPUT',
      3: 'BAD_USER_INPUT',
      4: 'BAD_USER_INPUT',
      5: 'UPSTREAM_FAILED',
      6: 'BAD_USER_INPUT',
    });
  });

  it('answers from the cache without changing what is kept there', async () => {
    const upstream = await tUpstream(echo);
    const { ask } = tGateway({ bankDataUrl: upstream.url });
    const representations = [{ __typename: 'IbanValidation', iban: ibans[0] }];
    const first = await ask(query, { representations });
    expect(await ask(query, { representations })).toEqual(first);
    expect(await ask(`{ ibanValidation(iban: "${ibans[0]}") { __typename valid } }`)).toEqual({
      data: { ibanValidation: { __typename: 'IbanValidation', valid: true } },
    });
    expect(upstream.calls).toHaveLength(1);
  });
});
