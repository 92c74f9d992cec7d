import { execute, parse } from 'graphql';
import { describe, expect, it, vi } from 'vitest';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tContext } from '../../support/gateway/graphql/documents.ts';
import { tServices } from '../../support/gateway/graphql/scripted-services.ts';
import { tGateway } from '../../support/gateway.ts';

const query = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { suggestions } }';

/** Different German IBANs with wrong check digits. */
function wrongIbans(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `DE00370400440532${String(index).padStart(6, '0')}`);
}

it('computes the suggestions of an IBAN once, for all aliases', async () => {
  const countLookUps = async (fields: string) => {
    const services = tServices();
    const has = vi.fn(() => true);
    const contextValue = tContext({ ...services, knownBanks: { ...services.knownBanks, has } });
    const document = parse(`{ ibanValidation(iban: "DE89370400440532013001") { ${fields} } }`);
    const { data } = await execute({ schema, document, contextValue });
    expect(JSON.stringify(data)).toContain('DE89370400440532013000');
    return has.mock.calls.length;
  };
  const once = await countLookUps('suggestions');
  expect(once).toBeGreaterThan(0);
  expect(await countLookUps('one: suggestions two: suggestions')).toBe(once);
});

describe('a query', () => {
  it('computes suggestions for at most 1,000 IBANs', async () => {
    const { ask } = tGateway({ env: { MAX_IBANS_PER_QUERY: '2000' } });
    const { data, errors } = await ask(query, { ibans: wrongIbans(1_001) });
    expect(data?.ibanValidations).toHaveLength(1_001);
    expect(data?.ibanValidations?.[999]).not.toBeNull();
    expect(data?.ibanValidations?.[1_000]).toBeNull();
    expect(errors).toMatchObject([
      {
        path: ['ibanValidations', 1_000, 'suggestions'],
        message: 'A query may request suggestions for at most 1000 invalid IBANs; split it into several queries.',
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });

  it('counts an IBAN once, for all aliases and entries', async () => {
    const { ask } = tGateway({ env: { MAX_IBANS_PER_QUERY: '2000' } });
    const ibans = wrongIbans(600);
    const { errors } = await ask(query.replace('{ suggestions }', '{ one: suggestions two: suggestions }'), {
      ibans: [...ibans, ...ibans],
    });
    expect(errors).toBeUndefined();
  });
});
