import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBankDirectory } from '../../../src/bank-data-service/bank-directory.ts';
import { ConfigError } from '../../../src/base/errors.ts';
import {
  tCodes,
  tDirectory,
  tDirectoryIn,
  tEntry,
  tReplace,
  useFirstGermanList,
} from '../../support/banks/import/imports.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';

const { findBank, listBanks } = createBankDirectory();
useFirstGermanList();

describe('an import', () => {
  it('replaces the whole list of its country, and no other', async () => {
    const directory = await tDirectory({ DE: [tEntry('37040044', { name: 'Commerzbank AG' })] });
    expect(directory.findBank('DE', '20050550')).toBeNull();
    expect(directory.listBanks({ country: 'DE' }).total).toBe(1);
    expect(directory.findBank('AT', '12000')).toEqual(findBank('AT', '12000'));
  });

  it('fills empty names and BICs from the shipped list, and adds that list to the source', async () => {
    const incomplete = tEntry('37040044', { zip: '50447', city: 'Köln' });
    const complete = tEntry('20050550', { name: 'Haspa', bic: 'HASPDEHHXXX' });
    const directory = await tDirectory({ DE: [incomplete, complete] });
    const source = 'Registry of DE; name and bic from Deutsche Bundesbank, via bankdata-germany (2026-06-08)';
    const filled = { ...incomplete, name: 'Commerzbank', bic: 'COBADEFFXXX', source };
    expect(directory.findBank('DE', '37040044')).toMatchObject(filled);
    const unchanged = { ...complete, source: 'Registry of DE', date: '2026-11-21' };
    expect(directory.findBank('DE', '20050550')).toMatchObject(unchanged);
  });

  it('of Finland lists the first digits of bank codes, of which the longest match is used', async () => {
    const banks = Object.entries({ 4: 'A', 40: 'B', 405: 'C' }).map(([code, name]) => tEntry(code, { name }));
    const directory = await tDirectory({ FI: banks });
    const names = ['405', '406', '499', '500', '4'].map((bankCode) => directory.findBank('FI', bankCode)?.name);
    expect(names).toEqual(['C', 'B', 'A', undefined, 'A']);
  });

  it('of Hungary has the branch of an account, otherwise the head office, and lists only banks', async () => {
    const banks = [
      tEntry('117', { name: 'OTP', bic: 'OTPVHUHB' }),
      tEntry('1177301', { name: 'OTP XVI. kerület', city: 'Budapest', bic: 'OTPVHUHB' }),
    ];
    const directory = await tDirectory({ HU: banks });
    const branch = directory.findBank('HU', '117', '7301');
    expect(branch).toMatchObject({ bankCode: '117', name: 'OTP XVI. kerület', city: 'Budapest' });
    expect(directory.findBank('HU', '117', '0002')).toMatchObject({ bankCode: '117', name: 'OTP' });
    expect(directory.findBank('HU', '117')?.name).toBe('OTP');
    expect(directory.findBankByBic('OTPVHUHB')?.name).toBe('OTP');
    expect(directory.listBanks({ country: 'HU' }).banks.map(({ name }) => name)).toEqual(['OTP']);
  });

  it('that fails keeps the previous one', async () => {
    const dataDir = tFolder();
    await tReplace(dataDir, ['0001']);
    function* failing() {
      yield tEntry('0002');
      throw new Error('half-way');
    }
    await expect(tReplace(dataDir, [], { entries: failing() })).rejects.toThrow('half-way');
    expect(tCodes(dataDir)).toEqual(['0001']);
  });

  it('is checked against the one that it replaces, also if both run at the same time', async () => {
    const dataDir = tFolder();
    const replaced: ({ size: number; date: string } | null)[] = [];
    const check = (present: (typeof replaced)[number]) => {
      replaced.push(present);
      if (present?.size === 2) throw new Error('refused');
    };
    const imports = [['0001', '0002'], ['0003']].map((codes) => tReplace(dataDir, codes, { check }));
    expect((await Promise.allSettled(imports)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(replaced).toEqual([null, { size: 2, date: '2026-11-21' }]);
    expect(tCodes(dataDir)).toEqual(['0001', '0002']);
  });
});

describe('the data folder', () => {
  it('may contain a store that is being created', async () => {
    const dataDir = tFolder();
    writeFileSync(join(dataDir, 'bank-directory-1.lmdb'), '');
    expect(tDirectoryIn(dataDir).listBanks()).toEqual(listBanks());
  });

  it('is rejected with a message if the store is damaged', async () => {
    const dataDir = tFolder();
    writeFileSync(join(dataDir, 'bank-directory-1.lmdb'), 'garbage'.repeat(1000));
    const expected = /DATA_DIR: .*bank-directory-1\.lmdb is damaged or was not created by this program/;
    expect(() => createBankDirectory({ dataDir })).toThrow(ConfigError);
    expect(() => createBankDirectory({ dataDir })).toThrow(expected);
    await expect(tReplace(dataDir, ['0001'])).rejects.toThrow(expected);
  });
});
