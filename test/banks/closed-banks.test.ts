import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createBankDirectory } from '../../src/bank-data-service/bank-directory.ts';
import { createBankLists } from '../../src/banks/bank-lists.ts';
import { createKnownBanks } from '../../src/banks/known-banks.ts';
import { fullBic } from '../../src/iban/bic.ts';

const lists = createBankLists();
const find = (country: string, bankCode: string) => lists.banks(country).find((bank) => bank.bankCode === bankCode);

describe('a closed bank', () => {
  it.each([
    ['ES', '0010', 'BBVAESMM', '0182'],
    ['ES', '2038', 'CAHMESMM', '2100'],
    ['ES', '2107', 'BBVAESMM', '0182'],
    ['ES', '3062', 'BCOEESMM190', '3190'],
    ['ES', '0059', 'MADRESMM', undefined],
    ['FR', '10558', 'TARNFR2L', '30003'],
  ])('%s %s is listed as deleted, with its BIC and successor', (country, bankCode, bic, successor) => {
    const bank = find(country, bankCode);
    expect(bank).toMatchObject({ bic, isDeleted: true, bicSource: 'CORRECTED' });
    expect(bank?.successor).toBe(successor);
  });

  it('has a successor that is in the list and has not closed', () => {
    for (const country of lists.countries()) {
      for (const { bankCode, successor } of lists.banks(country)) {
        if (successor === undefined) continue;
        expect(find(country, successor), `${country} ${bankCode}`).toBeDefined();
        expect(find(country, successor)?.isDeleted, `${country} ${bankCode}`).toBeUndefined();
      }
    }
  });

  it('is not reported as listed', () => {
    const known = createKnownBanks(lists);
    expect([known.status('ES', '0010'), known.status('ES', '0182')]).toEqual(['UNKNOWN', 'LISTED']);
  });

  it('is never the bank of a BIC that a present bank has', () => {
    const directory = createBankDirectory();
    expect(directory.findBankByBic('BBVAESMM')?.bankCode).toBe('0182');
    expect(directory.findBankByBic('BSABESBB')?.bankCode).toBe('0081');
    expect(directory.findBankByBic('CAIXESBB')?.bankCode).toBe('2100');
  });
});

describe('the codes on which a list of July 2026 and ours differed', () => {
  /** The codes whose BIC is ours, and why. */
  const differOnPurpose: Record<string, string> = {
    DE12016836: "the Bundesbank's present list",
    DE68351865: "the Bundesbank's present list",
    ES0038: 'the list of BICs of 2024 has ours for the bank under its present name (CACEIS)',
    ES0200: 'the same (Andbank)',
    ES0241: 'the same (A&G)',
    ES1451: 'the register and the lists of 2015 to 2023 agree',
    ES3081:
      "published payment details, the ECB's register and the list of BICs of 2024 have ERSVES22; BCOEESMM081 is older",
    FR18189: 'the list of BICs of 2024 has ours for this bank',
    FR19733: 'published payment details have OPSPFR21OKL',
  };

  const cases: { country: string; bankCode: string; other: string }[] = JSON.parse(
    readFileSync(new URL('../data/bank-code-cases.json', import.meta.url), 'utf8'),
  );

  it('agree now, or differ on purpose', () => {
    const agrees = ({ country, bankCode, other }: (typeof cases)[number]) =>
      fullBic(find(country, bankCode)?.bic ?? '') === fullBic(other);
    const others = cases.filter((row) => !agrees(row)).map(({ country, bankCode }) => country + bankCode);
    expect(others.sort()).toEqual(Object.keys(differOnPurpose));
    expect(cases).toHaveLength(293);
  });
});
