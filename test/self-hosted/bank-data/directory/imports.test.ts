import { existsSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../../src/errors.ts';
import { createBankDirectory } from '../../../../src/self-hosted/bank-data/directory/bank-directory.ts';
import { replaceImport } from '../../../../src/self-hosted/bank-data/directory/replace-import.ts';
import { tFolder } from '../../../support/self-hosted/bank-data/directory/folder.ts';
import { tDirectory, tEntry, useFirstGermanList } from '../../../support/self-hosted/bank-data/directory/imports.ts';

const { findBank, listBanks } = createBankDirectory();
useFirstGermanList();

describe('an import', () => {
  it('replaces the whole list of its country, and no other', async () => {
    const directory = await tDirectory({
      DE: [tEntry('37040044', { name: 'Commerzbank AG', zip: '50447', city: 'Köln' })],
    });
    expect(directory.findBank('DE', '20050550')).toBeNull();
    expect(directory.listBanks({ country: 'DE' }).total).toBe(1);
    expect(directory.findBank('AT', '12000')).toEqual(findBank('AT', '12000'));
    await directory.close();
  });

  it('fills empty names and BICs from the shipped list, and adds that list to the source', async () => {
    const directory = await tDirectory({
      DE: [
        tEntry('37040044', { zip: '50447', city: 'Köln' }),
        tEntry('20050550', { name: 'Haspa', bic: 'HASPDEHHXXX' }),
      ],
    });
    expect(directory.findBank('DE', '37040044')).toMatchObject({
      name: 'Commerzbank',
      zip: '50447',
      city: 'Köln',
      bic: 'COBADEFFXXX',
      source: 'Registry of DE; name and bic from Deutsche Bundesbank, via bankdata-germany (2026-06-08)',
    });
    expect(directory.findBank('DE', '20050550')).toMatchObject({
      name: 'Haspa',
      source: 'Registry of DE',
      date: '2026-11-21',
    });
    await directory.close();
  });

  it('adds a country', async () => {
    const directory = await tDirectory({ CZ: [tEntry('0800', { name: 'Česká spořitelna' })] });
    expect(directory.listBanks({ country: 'CZ' }).total).toBe(1);
    expect(directory.findBank('CZ', '0800')?.name).toBe('Česká spořitelna');
    await directory.close();
  });

  it('of Finland lists the first digits of bank codes, of which the longest match is used', async () => {
    const directory = await tDirectory({
      FI: [tEntry('4', { name: 'A' }), tEntry('40', { name: 'B' }), tEntry('405', { name: 'C' })],
    });
    const names = ['405', '406', '499', '500', '4'].map((bankCode) => directory.findBank('FI', bankCode)?.name);
    expect(names).toEqual(['C', 'B', 'A', undefined, 'A']);
    await directory.close();
  });

  it('replaces the previous one', async () => {
    const dataDir = tFolder();
    const replacement = { country: 'CZ', source: 'Registry', date: '2026-11-21' };
    await replaceImport(dataDir, { ...replacement, entries: [tEntry('0001'), tEntry('0002')] });
    await replaceImport(dataDir, { ...replacement, entries: [tEntry('0002'), tEntry('0003')] });
    const directory = createBankDirectory({ dataDir });
    expect(directory.listBanks({ country: 'CZ' }).banks.map(({ bankCode }) => bankCode)).toEqual(['0002', '0003']);
    await directory.close();
  });

  it('that fails keeps the previous one', async () => {
    const dataDir = tFolder();
    const replacement = { country: 'CZ', source: 'Registry', date: '2026-11-21' };
    await replaceImport(dataDir, { ...replacement, entries: [tEntry('0001')] });
    function* failing() {
      yield tEntry('0002');
      throw new Error('half-way');
    }
    await expect(replaceImport(dataDir, { ...replacement, entries: failing() })).rejects.toThrow('half-way');
    const directory = createBankDirectory({ dataDir });
    expect(directory.listBanks({ country: 'CZ' }).banks.map(({ bankCode }) => bankCode)).toEqual(['0001']);
    await directory.close();
  });

  it('is checked against the one that it replaces, also if both run at the same time', async () => {
    const dataDir = tFolder();
    const replaced: (number | null)[] = [];
    const runImport = (codes: string[]) => {
      const check = (count: number | null) => {
        replaced.push(count);
        if (count === 2) throw new Error('refused');
      };
      const entries = codes.map((code) => tEntry(code));
      return replaceImport(dataDir, { country: 'CZ', source: 'Registry', date: '2026-11-21', entries, check });
    };
    const [first, second] = await Promise.allSettled([runImport(['0001', '0002']), runImport(['0003'])]);
    expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
    expect(replaced).toEqual([null, 2]);
    const directory = createBankDirectory({ dataDir });
    expect(directory.listBanks({ country: 'CZ' }).banks.map(({ bankCode }) => bankCode)).toEqual(['0001', '0002']);
    await directory.close();
  });
});

describe('the data folder', () => {
  it('is not created by reading', async () => {
    const dataDir = join(tFolder(), 'data');
    const directory = createBankDirectory({ dataDir });
    expect(directory.findBank('DE', '37040044')).not.toBeNull();
    expect(directory.listBanks()).toEqual(listBanks());
    await directory.close();
    expect(existsSync(dataDir)).toBe(false);
  });

  it('may contain a store that is being created', async () => {
    const dataDir = tFolder();
    writeFileSync(join(dataDir, 'bank-directory-1.lmdb'), '');
    const directory = createBankDirectory({ dataDir });
    expect(directory.listBanks()).toEqual(listBanks());
    await directory.close();
  });

  it('is rejected with a message if the store is damaged', async () => {
    const dataDir = tFolder();
    writeFileSync(join(dataDir, 'bank-directory-1.lmdb'), 'garbage'.repeat(1000));
    const expected = /DATA_DIR: .*bank-directory-1\.lmdb is damaged or was not created by this program/;
    expect(() => createBankDirectory({ dataDir })).toThrow(ConfigError);
    expect(() => createBankDirectory({ dataDir })).toThrow(expected);
    const replacement = { country: 'CZ', source: 'Registry', date: '2026-11-21', entries: [tEntry('0001')] };
    await expect(replaceImport(dataDir, replacement)).rejects.toThrow(expected);
  });

  it.each([50, 10])('is rejected with a message if the store is truncated to %i %%', async (percent) => {
    const dataDir = tFolder();
    const entries = Array.from({ length: 500 }, (_, index) => tEntry(String(index).padStart(4, '0')));
    await replaceImport(dataDir, { country: 'CZ', source: 'Registry', date: '2026-11-21', entries });
    const file = join(dataDir, 'bank-directory-1.lmdb');
    truncateSync(file, Math.floor((statSync(file).size * percent) / 100));
    expect(() => createBankDirectory({ dataDir })).toThrow(ConfigError);
  });
});
