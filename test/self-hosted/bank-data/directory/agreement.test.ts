import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createBankDirectory } from '../../../../src/self-hosted/bank-data/directory/bank-directory.ts';

interface PublishedBank {
  country: string;
  bank_code: string;
  bic: string;
}

const vectors: { banks: readonly PublishedBank[] } = JSON.parse(
  readFileSync(new URL('../../../data/iban-vectors.json', import.meta.url), 'utf8'),
);
const { findBank } = createBankDirectory();

/** Compares the banks that libraries publish with the shipped lists. */
function compare(country: string) {
  const published = new Map(
    vectors.banks
      .filter((bank) => bank.country === country)
      .map((bank) => [`${bank.bank_code} ${bank.bic.slice(0, 8)}`, bank]),
  );
  const found = ({ bank_code: code, bic }: PublishedBank) => ({ code, bic, bank: findBank(country, code) });
  const cases = [...published.values()].map(found);
  const known = cases.filter(({ bank }) => bank !== null);
  // The last three characters are the branch, which not all sources include.
  const agreeing = known.filter(({ bic, bank }) => bank?.bic.slice(0, 8) === bic.slice(0, 8));
  const disagreeing = known
    .filter((one) => !agreeing.includes(one))
    .map(({ code, bic, bank }) => `${code} ${bic} ${bank?.bic}`);
  const unknown = cases.filter(({ bank }) => bank === null).map(({ code }) => code);
  return { agreeing: agreeing.length, disagreeing, unknown };
}

describe('the shipped directories agree with published BICs', () => {
  it.each([
    { country: 'AT', least: 5, disagreeing: [], unknown: [] },
    { country: 'BE', least: 14, disagreeing: [], unknown: [] },
    { country: 'DE', least: 5, disagreeing: [], unknown: [] },
    { country: 'ES', least: 4, disagreeing: [], unknown: ['2059', '0209'] },
    { country: 'FR', least: 3, disagreeing: [], unknown: ['30077', '11425'] },
    { country: 'LU', least: 5, disagreeing: [], unknown: [] },
    { country: 'NL', least: 3, disagreeing: [], unknown: [] },
  ])('in $country', ({ country, least, disagreeing, unknown }) => {
    const result = compare(country);
    expect(result.disagreeing).toEqual(disagreeing);
    expect(result.unknown).toEqual(unknown);
    expect(result.agreeing).toBeGreaterThanOrEqual(least);
  });
});
