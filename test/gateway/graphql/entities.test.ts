import { describe, expect, it } from 'vitest';
import vectors from '../../data/iban-vectors.json' with { type: 'json' };
import { tScriptedGateway } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { replyFailingFor, replyInWaves, replyJson } from '../../support/scripted-upstream.ts';

const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
  __typename ... on IbanValidation { iban valid } ... on IbanCountry { code name } ... on BankData { bic bankName: name } } }`;

/** For IBANs, and for the bank of a BIC. */
const echo = replyJson(200, { valid: true, bank_data: { name: 'A bank', swift: 'COBADEFFXXX' } });
const ibans = vectors.valid.filter(({ scope }) => scope === 'registry').map(({ iban }) => iban);

describe('_entities', () => {
  it('resolves each entity type by its key', async () => {
    const { ask } = await tScriptedGateway(echo);
    const representations = [
      { __typename: 'IbanValidation', iban: 'de89 3704 0044 0532 0130 00' },
      { __typename: 'IbanCountry', code: 'FR' },
      { __typename: 'BankData', id: '::COBADEFFXXX' },
      { __typename: 'IbanCountry', code: 'US' },
    ];
    expect(await ask(query, { representations })).toEqual({
      data: {
        _entities: [
          { __typename: 'IbanValidation', iban: 'DE89370400440532013000', valid: true },
          { __typename: 'IbanCountry', code: 'FR', name: 'France' },
          { __typename: 'BankData', bic: 'COBADEFFXXX', bankName: 'A bank' },
          null,
        ],
      },
    });
  });

  it('makes 500 calls for 1,000 representations of 500 IBANs, many at a time', async () => {
    const { ask, upstream } = await tScriptedGateway(replyInWaves(50, 500, echo), { UPSTREAM_CONCURRENCY: '50' });
    const fiveHundred = Array.from({ length: 500 }, (_, index) => tIban(index));
    const keys = [...fiveHundred, ...fiveHundred];
    const { data, errors } = await ask(query, {
      representations: keys.map((iban) => ({ __typename: 'IbanValidation', iban })),
    });
    expect(errors).toBeUndefined();
    expect(data?._entities).toEqual(keys.map((iban) => ({ __typename: 'IbanValidation', iban, valid: true })));
    expect(upstream.calls).toHaveLength(500);
    expect(upstream.mostInFlight).toBe(50);
  });

  it('nulls only invalid representations and the fields of failed ones, with errors at their indexes', async () => {
    const [healthy = '', failing = ''] = ibans;
    const { ask, upstream } = await tScriptedGateway(replyFailingFor(failing, echo));
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
      { __typename: 'IbanData', iban: healthy },
    ];
    const { data, errors } = await ask(query, { representations });
    const answer = { __typename: 'IbanValidation', iban: healthy, valid: true };
    const failed = { __typename: 'IbanValidation', iban: failing, valid: null };
    expect(data?._entities).toEqual([answer, null, null, null, null, failed, null, answer, failed, null]);
    expect(errors).toHaveLength(8);
    const indexes = (code: string) =>
      errors?.flatMap(({ path, extensions }) => (extensions.code === code ? [Number(path?.[1])] : [])).toSorted();
    expect(indexes('BAD_USER_INPUT')).toEqual([1, 2, 3, 4, 6, 9]);
    expect(indexes('UPSTREAM_FAILED')).toEqual([5, 8]);
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
