import { expect, it } from 'vitest';
import { createBankLists } from '../../src/banks/bank-lists.ts';
import { createKnownBanks } from '../../src/banks/known-banks.ts';
import { matchBic } from '../../src/iban/bic.ts';

const lists = createBankLists();
const known = createKnownBanks(lists);

it.each([
  ['the branch does not matter', 'COBADEFF370', ['COBADEFFXXX'], 'SAME_BANK'],
  ['one of several BICs is enough', 'DEUTDEDB', ['DEUTDEFFXXX', 'DEUTDEDBXXX'], 'SAME_BANK'],
  ['another bank', 'DEUTDEFF', ['COBADEFFXXX'], 'OTHER_BANK'],
  ['the same bank in another location', 'COBADEHH', ['COBADEFFXXX'], 'UNKNOWN'],
  ['the same bank in another country', 'DEUTFRPP', ['DEUTDEFFXXX'], 'UNKNOWN'],
  ['no BIC is known', 'COBADEFF', [], 'UNKNOWN'],
])('%s', (_, bic, bics, expected) => {
  expect(matchBic(bic, bics)).toBe(expected);
});

it('is SAME_BANK for each BIC that a list gives for a bank code, of all countries', () => {
  const seen = new Map<string, number>();
  for (const country of lists.countries()) {
    for (const { bankCode, bic } of lists.banks(country)) {
      if (bic === '') continue;
      expect(matchBic(bic, known.bics(country, bankCode)), `${country} ${bankCode} ${bic}`).toBe('SAME_BANK');
      seen.set(country, (seen.get(country) ?? 0) + 1);
    }
    for (const [bankCode, bics] of lists.bics(country)) {
      for (const bic of bics) expect(matchBic(bic, known.bics(country, bankCode))).toBe('SAME_BANK');
    }
  }
  // The list of Ukraine has no BICs.
  expect([...seen.keys()]).toEqual(lists.countries().filter((country) => country !== 'UA'));
});

it('is SAME_BANK for the BIC of the successor of a closed bank, and for that of a bank that merged into another', () => {
  let count = 0;
  for (const country of lists.countries()) {
    const banks = new Map(lists.banks(country).map((bank) => [bank.bankCode, bank]));
    for (const { bankCode, bic, successor } of banks.values()) {
      const next = banks.get(successor ?? '');
      if (!next?.bic) continue;
      count += 1;
      expect(matchBic(next.bic, known.bics(country, bankCode)), `${country} ${bankCode}`).toBe('SAME_BANK');
      expect(matchBic(bic, known.bics(country, next.bankCode)), `${country} ${next.bankCode}`).toBe('SAME_BANK');
      expect(known.bics(country, bankCode)[0]).toBe(bic);
      expect(known.bics(country, next.bankCode)[0]).toBe(next.bic);
    }
  }
  expect(count).toBeGreaterThan(100);
});

it.each([
  ['37010600', 'GEBADE33XXX'],
  ['48020151', 'LAMPDEDDXXX'],
  ['28050100', 'BRLADE21LZO'],
])('is SAME_BANK for the former BIC of %s', (bankCode, bic) => {
  expect(matchBic(bic, known.bics('DE', bankCode))).toBe('SAME_BANK');
});

it('knows BICs that a correction has replaced', () => {
  const corrected = lists.banks('FR').filter(({ bicSource }) => bicSource === 'CORRECTED');
  const several = corrected.filter(({ bankCode }) => known.bics('FR', bankCode).length > 1);
  expect(several.length).toBeGreaterThan(0);
});

it('knows no BICs of countries without a list', () => {
  expect(known.bics('XX', '1')).toEqual([]);
  expect(known.bics('DE', '00000000')).toEqual([]);
});
