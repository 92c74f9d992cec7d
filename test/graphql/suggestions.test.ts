import { afterEach, expect, it, vi } from 'vitest';
import { suggestIbans } from '../../src/iban/suggest-ibans.ts';
import { tGateway } from '../gateway.ts';

vi.mock('../../src/iban/suggest-ibans.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/iban/suggest-ibans.ts')>();
  return { suggestIbans: vi.fn(original.suggestIbans) };
});

afterEach(() => vi.mocked(suggestIbans).mockClear());

/** Different German IBANs with wrong check digits. */
function wrongIbans(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `DE00370400440532${String(index).padStart(6, '0')}`);
}

it('computes the suggestions of an IBAN once per query, for all aliases and entries', async () => {
  const { ask } = tGateway();
  const aliases = Array.from({ length: 20 }, (_, index) => `a${index}: suggestions`);
  const list = `ibanValidations(ibans: $ibans) { ${aliases.join(' ')} }`;
  const ibans = ['DE89370400440532013001', ...wrongIbans(9)];
  const { data } = await ask(`query ($ibans: [String!]!) { one: ${list} two: ${list} }`, {
    ibans: [...ibans, ...ibans],
  });
  expect(data?.one).toHaveLength(20);
  expect(data?.one).toEqual(data?.two);
  expect(data?.one?.[0]?.a0).toContain('DE89370400440532013000');
  expect(suggestIbans).toHaveBeenCalledTimes(10);
});

it('computes suggestions for at most 1,000 IBANs per query', async () => {
  const { ask } = tGateway({ env: { MAX_IBANS_PER_QUERY: '2000' } });
  const { data, errors } = await ask('query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { suggestions } }', {
    ibans: wrongIbans(1_001),
  });
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
  expect(suggestIbans).toHaveBeenCalledTimes(1_000);
});
