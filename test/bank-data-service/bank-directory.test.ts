import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { createBankDirectory } from '../../src/bank-data-service/bank-directory.ts';
import { createShippedBanks } from '../../src/banks/shipped-banks.ts';
import { tDirectory, tEntry, useFirstGermanList } from '../support/banks/import/imports.ts';

const { findBank, findBankByBic, listBanks } = createBankDirectory();
useFirstGermanList();

describe('findBank', () => {
  it('finds name and BIC of German banks', () => {
    const bank = tEntry('37040044', { name: 'Commerzbank', bic: 'COBADEFFXXX' });
    const source = 'Deutsche Bundesbank, via bankdata-germany';
    expect(findBank('DE', '37040044')).toEqual({
      ...{ ...bank, country: 'DE', bicSource: 'NATIONAL_LIST', source, date: '2026-06-08' },
    });
  });

  it('uses the next German list from its first valid day', () => {
    expect(findBank('DE', '65461878')).not.toBeNull();
    expect(findBank('DE', '10010123')?.name).toBe('OLINDA Zweigniederlassung Deutschland');
    vi.setSystemTime('2026-09-07T12:00:00Z');
    expect(findBank('DE', '65461878')).toMatchObject({ isDeleted: true, date: '2026-06-08' });
    const renamed = { name: 'Qonto Zweigniederlassung Deutschland', date: '2026-09-07' };
    expect(findBank('DE', '10010123')).toMatchObject(renamed);
  });

  it('finds the BIC of German bank codes that were deleted after 2024', () => {
    const { banks } = listBanks({ country: 'DE', first: 10_000 });
    const deleted = banks.filter(({ source }) => source.includes('iban-to-bic'));
    expect(deleted).toHaveLength(51);
    expect(deleted.every(({ bic, name }) => bic !== '' && name === '')).toBe(true);
  });

  it.each([
    ['AT', '12000', 'BKAUATWWXXX', 'NATIONAL_LIST', 'Oesterreichische Nationalbank, via schwifty', '2026-03-03'],
    ['CH', '00100', 'SNBZCHZZXXX', 'NATIONAL_LIST', 'SIX Interbank Clearing, via schwifty', '2026-03-03'],
    ['ES', '1465', 'INGDESMM', 'REGISTER', 'Banco de España, via schwifty', '2024-11-11'],
    ['FR', '10107', 'BREDFRPP', 'CURATED', 'list of volunteers, via schwifty', '2026-05-06'],
    ['GB', 'NWBK', 'NWBKGB2LXXX', 'CURATED', 'list of volunteers, via schwifty', '2026-03-03'],
  ])(
    'finds the BIC of %s %s, with kind, source and date of its list',
    (country, bankCode, bic, bicSource, source, date) => {
      const bank = { country, bankCode, bic, bicSource, date, source: expect.stringContaining(source) };
      expect(findBank(country, bankCode)).toMatchObject(bank);
    },
  );

  it.each([
    ['its first digits, if the list has no more', 'FI', '529', null, '5'],
    ['its branch, if the list has it', 'HU', '117', '7301', '1177301'],
    ['the bank code, if the list does not have its branch', 'HU', '117', '9999', '117'],
  ])('finds a bank by %s', async (_, country, bankCode, branch, name) => {
    const entries = ['5', '117', '1177301', '117730'].map((code) => tEntry(code, { name: code }));
    const directory = await tDirectory({ [country]: entries });
    expect(directory.findBank(country, bankCode, branch)).toMatchObject({ bankCode, name });
  });

  it.each([
    ['a bank code that is not listed', 'DE', '00000000'],
    ['a country without a list', 'VA', '001'],
    ["a territory, in its parent's list", 'MQ', '10107'],
    ['a bank code of another country', 'AT', '37040044'],
    ['the bank code of another country with the same length', 'LU', '103'],
    ['the start of a bank code', 'DE', '3704004'],
    ['an invalid country', '__proto__', 'constructor'],
    ['an invalid bank code', 'NL', 'constructor'],
    ['empty texts', '', ''],
  ])('returns null for %s', (_, country, bankCode) => {
    expect(findBank(country, bankCode)).toBeNull();
  });
});

describe('the shipped directories agree with published BICs', () => {
  const vectors: { banks: readonly { country: string; bank_code: string; bic: string }[] } = JSON.parse(
    readFileSync(new URL('../data/iban-vectors.json', import.meta.url), 'utf8'),
  );

  it.each([
    { country: 'AT', least: 5, unknown: [] },
    { country: 'BE', least: 14, unknown: [] },
    { country: 'DE', least: 5, unknown: [] },
    { country: 'ES', least: 4, unknown: [] },
    { country: 'FR', least: 3, unknown: [] },
    { country: 'LU', least: 5, unknown: [] },
    { country: 'NL', least: 3, unknown: [] },
  ])('in $country', ({ country, least, unknown }) => {
    // The last three characters are the branch, which not all sources include.
    const banks = vectors.banks
      // The register's BIC of 10278: its accounts have the one in our corrections.
      .filter((bank) => bank.country === country && bank.bic !== 'CMCIFRCPCEE')
      .map(({ bank_code: code, bic }) => ({
        code,
        bic: bic.slice(0, 8),
        found: findBank(country, code)?.bic.slice(0, 8),
      }));
    const known = banks.filter(({ found }) => found !== undefined);
    for (const { code, bic, found } of known) expect([code, found]).toEqual([code, bic]);
    expect(new Set(known.map(({ code, bic }) => code + bic)).size).toBeGreaterThanOrEqual(least);
    const missing = banks.filter(({ found }) => found === undefined).map(({ code }) => code);
    expect(new Set(missing)).toEqual(new Set(unknown));
  });
});

describe('the dates of the lists', () => {
  it.each([['bankdata-germany', '2.2602.0']])(
    'belong to %s %s and must be updated for another version',
    (name, version) => {
      const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
      expect(JSON.parse(readFileSync(file, 'utf8')).version).toBe(version);
    },
  );
});

describe('findBankByBic', () => {
  it.each([
    ['without a branch, as that of the head office', 'COBADEFF', '50040000'],
    ['of the head office', 'COBADEFFXXX', '50040000'],
    ['of a bank with the same BIC in many places, one of which it contains', 'COBADEHHXXX', '20040000'],
    ['of a branch', 'GENODEF1S10', '12096597'],
    ['of an unlisted branch whose head office is listed', 'DEUTDEFF999', '50070010'],
    ['that is listed without its branch', 'ABNANL2AXXX', 'ABNA'],
    ['of banks whose names differ in a suffix', 'ISBKDEFXXXX', '50230600'],
  ])('finds a BIC %s', (_, bic, bankCode) => {
    expect(findBankByBic(bic)?.bankCode).toBe(bankCode);
  });

  it.each([
    ['an unlisted head office whose branches, which are independent banks, are listed', 'GENODEF1'],
    ['an unlisted branch whose head office is not listed', 'GENODEF1ZZZ'],
    ['an unlisted BIC', 'ZZZZGB2L'],
    ['the start of a BIC', 'COBADE'],
    ['an empty text', ''],
  ])('returns null for %s', (_, bic) => {
    expect(findBankByBic(bic)).toBeNull();
  });

  it('prefers the country of the BIC to others with the same BIC', async () => {
    const directory = await tDirectory({
      AT: [tEntry('10000', { bic: 'TESTCZPP' })],
      CZ: [tEntry('0001', { bic: 'TESTCZPPXXX' }), tEntry('0002', { bic: 'MTCCSKBXXXX' })],
    });
    expect(directory.findBankByBic('TESTCZPP')?.country).toBe('CZ');
    expect(directory.findBankByBic('MTCCSKBX')?.country).toBe('CZ');
  });
});

describe('listBanks', () => {
  it('lists pages by country and bank code', () => {
    const { banks, total } = listBanks({ first: 100_000 });
    expect(total).toBe(banks.length);
    const keys = banks.map(({ country, bankCode }) => country + bankCode);
    expect(keys).toEqual(keys.toSorted());
    expect(new Set(keys).size).toBe(total);
    const pages = Array.from({ length: 3 }, (_, page) => listBanks({ first: 7, offset: page * 7 }));
    expect(pages.flatMap((page) => page.banks)).toEqual(banks.slice(0, 21));
    expect(pages.map((page) => page.total)).toEqual([total, total, total]);
    expect(listBanks({ offset: total })).toEqual({ banks: [], total });
  });

  it('lists all shipped countries by default', () => {
    const totals = createShippedBanks().countries.map((country) => listBanks({ country }).total);
    expect(totals).toHaveLength(44);
    expect(Math.min(...totals)).toBeGreaterThan(0);
    expect(listBanks().total).toBe(totals.reduce((sum, total) => sum + total, 0));
  });

  it.each([
    ['in any case', 'hamburger sparkasse', '20050550'],
    ['in any order of words', 'SPARKASSE HAMBURGER', '20050550'],
    ['without accents', 'dusseldorf neuss', '30160213'],
    ['with accents that the name does not have', 'hämburger spärkasse', '20050550'],
    ['by its bank code', '20050550', '20050550'],
    ['by the start of its bank code', '2005055', '20050550'],
    ['by its BIC', 'HASPDEHHXXX', '20050550'],
    ['by the start of its BIC, in small letters', 'haspdehh', '20050550'],
  ])('finds a bank %s', (_, search, bankCode) => {
    expect(listBanks({ country: 'DE', search }).banks.map((bank) => bank.bankCode)).toContain(bankCode);
  });

  it.each(['zzzz', 'sparkasse zzzz', '99999999', '%', '.*'])('finds nothing for "%s"', (search) => {
    expect(listBanks({ search })).toEqual({ banks: [], total: 0 });
  });

  it('lists nothing for a country without a list, and all banks for an empty search', () => {
    expect(listBanks({ country: 'VA' })).toEqual({ banks: [], total: 0 });
    expect(listBanks({ search: ' ' })).toEqual(listBanks());
  });

  it.each([
    ['Łódź', 'lodz'],
    ['Große Øst-Bank', 'grosse ost'],
    ['Česká spořitelna', 'ceska SPORITELNA'],
    ['İş Bankası', 'is bankasi'],
  ])('finds %s by %s', async (name, search) => {
    const directory = await tDirectory({ CZ: [tEntry('0001', { name }), tEntry('0002', { name: 'Other' })] });
    expect(directory.listBanks({ search, country: 'CZ' }).banks.map((bank) => bank.name)).toEqual([name]);
  });
});
