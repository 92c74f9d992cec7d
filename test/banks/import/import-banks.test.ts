import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBankDataService } from '../../../src/bank-data-service/create-bank-data-service.ts';
import { replaceImport } from '../../../src/banks/import/replace-import.ts';
import { createImportReader } from '../../../src/banks/imported-lists.ts';
import { readBankDataServiceConfig, readBankImportConfig } from '../../../src/base/variables/service-config.ts';
import { readConfig } from '../../../src/gateway/config/read-config.ts';
import { importElsewhere, tBanks, tImport, tSampleFile } from '../../support/banks/import/imports.ts';
import { samples, tSample } from '../../support/banks/import/samples.ts';
import { tDisk, tFolder, whyNoMount } from '../../support/gateway/stores/folder.ts';

const german = tSample('DE');
describe('import-banks', () => {
  it('refuses a device, which may have no end', async () => {
    const { code, stderr } = await tImport(tFolder(), 'DE', '/dev/zero');
    expect([code, stderr]).toEqual([1, 'Nothing was imported: /dev/zero is a device; expected the downloaded file.\n']);
  });

  it('prints imported and skipped rows, source and date', async () => {
    const folder = tFolder();
    const path = await tSampleFile(folder, german);
    const shipped = (await tBanks(folder, 'DE')).length;
    const args = ['de', path, '--force', '--date', '2026-09-07'];
    const { code, stdout, stderr } = await tImport(join(folder, 'data'), ...args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      [
        `Imported the banks of DE from ${path}: was ${shipped.toLocaleString('en')}, now 3`,
        '  read             5 rows',
        '  imported         3 banks',
        '  skipped          2 rows',
        '                   1  branches under the bank code of another row (Merkmal 2)',
        '                   1  deleted bank codes (Änderungskennzeichen D)',
        '  source     Deutsche Bundesbank',
        '  date       2026-09-07 (from --date)',
        '  until      2026-12-06',
        `  stored in  ${join(folder, 'data')}`,
        'Source: Deutsche Bundesbank, Bankleitzahlendatei (name the source when you pass the data on).',
        '',
      ].join('\n'),
    );
    const imported = { ...german.bank, country: 'DE', source: 'Deutsche Bundesbank', date: '2026-09-07' };
    expect(await tBanks(join(folder, 'data'), 'DE')).toContainEqual(expect.objectContaining(imported));
  });

  it('stores the date of the list, its last day, whether it is complete, and the methods of account numbers', async () => {
    const dataDir = tFolder();
    const path = await tSampleFile(tFolder(), german, [german.invalid[0]]);
    await tImport(dataDir, 'DE', path, '--force', '--date', '2026-09-07');
    await tImport(dataDir, 'AT', await tSampleFile(tFolder(), tSample('AT')), '--force');
    const reader = createImportReader(dataDir);
    const dates = { date: '2026-09-07', validUntil: '2026-12-06' };
    const source = 'Deutsche Bundesbank';
    expect(reader.imports().get('DE')).toEqual({ source, ...dates, isComplete: false, revision: 1 });
    expect(reader.imports().get('AT')).toMatchObject({
      date: '2026-11-20',
      validUntil: '2027-02-20',
      isComplete: true,
    });
    expect(reader.entries('DE')).toContainEqual(german.bank);
    await reader.close();
  });

  it('lists rows that are wrong, and how many more there are', async () => {
    const wrong = german.rows[0]?.with(7, 'COBADEFFXX') ?? [];
    const rows = Array.from({ length: 1_200 }, () => german.rows.slice(0, 1)).flat();
    const path = await tSampleFile(
      tFolder(),
      { ...german, rows },
      Array.from({ length: 12 }, () => wrong),
    );
    const { stdout } = await tImport(tFolder(), 'DE', path, '--force');
    const problem = `the BIC is "COBADEFFXX"; it must have 8 or 11 letters and digits, with a country code at positions 5 and 6`;
    expect(stdout).toContain(
      `\n  wrong           12 rows\n             line 1202, imported without it: ${problem}\n             line 1203, `,
    );
    expect(stdout).toContain('\n             and 2 more rows\n  source ');
    expect(stdout).toContain(
      ' (of the import: the age of the list is unknown, so unlisted bank codes are UNKNOWN; add --date)\n',
    );
  });

  it('keeps a newer list, unless it is forced to replace it', async () => {
    const [dataDir, folder] = [tFolder(), tFolder()];
    const path = await tSampleFile(folder, german);
    const importOf = (date: string, ...more: readonly string[]) =>
      tImport(dataDir, 'DE', path, '--date', date, ...more);
    expect((await importOf('2026-06-08', '--force')).code).toBe(0);
    expect((await importOf('2026-09-07')).code).toBe(0);
    const older = `${path} has the date 2026-06-08, and is older than the present list of 2026-09-07 of DE`;
    const stderr = `Nothing was imported: ${older}; if it is right, add --force.\n`;
    expect(await importOf('2026-06-08')).toEqual({ code: 1, stdout: '', stderr });
    expect((await importOf('2026-06-08', '--force')).code).toBe(0);
    const [bank] = await tBanks(dataDir, 'DE');
    expect(bank?.date).toBe('2026-06-08');
  });

  it('keeps the list in the package, if it is newer', async () => {
    const path = await tSampleFile(tFolder(), german);
    const { stderr } = await tImport(tFolder(), 'DE', path, '--date', '2026-01-01');
    expect(stderr).toMatch(/has the date 2026-01-01, and is older than the present list of 2026-\d\d-\d\d of DE; /);
  });

  it('changes nothing for an invalid file, creates no data folder, and prints invalid lines', async () => {
    const folder = tFolder();
    const dataDir = join(folder, 'data');
    const invalid = await tSampleFile(tFolder(), german, [german.invalid[0], german.invalid[0]]);
    const line = (number: number) => `line ${number}, left out: 3 columns; a row of this file has 13`;
    const problem = `blz.csv has errors in 2 of 7 rows, more than one in a hundred: ${line(7)}; ${line(8)}`;
    const stderr = `Nothing was imported: ${problem}.\n`;
    const refused = { code: 1, stdout: '', stderr };
    expect(await tImport(dataDir, 'DE', invalid)).toEqual(refused);
    expect(existsSync(dataDir)).toBe(false);
    await tImport(dataDir, 'DE', await tSampleFile(folder, german), '--force');
    const before = await tBanks(dataDir, 'DE');
    expect(await tImport(dataDir, 'DE', invalid)).toEqual(refused);
    expect(await tBanks(dataDir, 'DE')).toEqual(before);
  });

  it.each([
    [['DE'], "the file is missing; run 'ledgerquill import-banks' for a list"],
    [['GB', 'a.csv'], 'the country must be one of AT, BE, CH, CZ, DE, '],
    [['DE', 'a.csv', '--undo'], '--undo takes no file and no --date'],
    [['DE', '--undo', '--date', '2026-11-21'], '--undo takes no file and no --date'],
    [['DE', 'a.csv', '--date', '21.11.2026'], '--date must be a date such as 2026-11-21, not "21.11.2026"'],
    [['DE', 'a.csv', '--date', '2026-02-29'], '--date must be a date such as 2026-11-21, not "2026-02-29"'],
    [['DE', 'a.csv', '--date', '2999-01-01'], '--date must be at most three months after today, until '],
    [['--undo'], 'the country must be one of AT, '],
    [['DE', 'a.csv', 'b.csv'], 'too many arguments'],
  ])('exits with 2 for wrong usage: %j', async (args, problem) => {
    const { code, stdout, stderr } = await tImport(tFolder(), ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`error: ${problem}`);
  });

  it('lists the file of each country and where to download it', async () => {
    const { code, stdout } = await tImport(tFolder());
    expect(code).toBe(0);
    const listed = [...stdout.matchAll(/^([A-Z]{2}) {2}\S.*\n {4}https:\/\/\S+/gm)].map(([, country]) => country);
    expect(listed).toEqual([...new Set(samples.map(({ country }) => country))].toSorted());
  });

  it('refuses a file with less than half of the present banks, unless it is forced', async () => {
    const dataDir = tFolder();
    const path = await tSampleFile(dataDir, german);
    const shipped = (await tBanks(dataDir, 'DE')).length;
    const present = `less than half of the present ${shipped.toLocaleString('en')} of DE`;
    const stderr = `Nothing was imported: ${path} has 3 banks, ${present}; if it is right, add --force.\n`;
    expect(await tImport(dataDir, 'DE', path)).toEqual({ code: 1, stdout: '', stderr });
    expect(await tBanks(dataDir, 'DE')).toHaveLength(shipped);
  });

  it('compares the number of banks, without branches', async () => {
    const dataDir = tFolder();
    const hungarian = tSample('HU');
    const rows = (codes: readonly string[]) => codes.map((code) => [code, 'OTPVHUHB', 'OTP', 'Budapest']);
    const branches = Array.from({ length: 9 }, (_, index) => `1177${index}013`);
    const first = await tSampleFile(tFolder(), { ...hungarian, rows: rows(branches) });
    expect((await tImport(dataDir, 'HU', first, '--force')).stdout).toContain('imported         1 bank, 9 branches\n');
    const second = await tSampleFile(tFolder(), { ...hungarian, rows: rows(['11773016', '11600006']) });
    const { code, stdout } = await tImport(dataDir, 'HU', second);
    expect([code, stdout]).toEqual([0, expect.stringContaining(': was 1, now 2\n')]);
    expect((await tImport(dataDir, 'HU', '--undo')).stdout).toContain('was 2, now 1.');
  });

  it('restores the list before the last import with --undo, and undoes that, too', async () => {
    const dataDir = tFolder();
    const path = await tSampleFile(dataDir, german);
    const shipped = await tBanks(dataDir, 'DE');
    const { stderr } = await tImport(dataDir, 'DE', '--undo');
    expect(stderr).toBe('Nothing was changed: no import of DE can be undone.\n');
    await tImport(dataDir, 'DE', path, '--force');
    const imported = await tBanks(dataDir, 'DE');
    expect(imported).toHaveLength(3);
    const { stdout } = await tImport(dataDir, 'de', '--undo');
    expect(stdout).toBe(
      `Restored the banks of DE: was 3, now ${shipped.length.toLocaleString('en')}. To undo this, run it again.\n`,
    );
    expect(await tBanks(dataDir, 'DE')).toEqual(shipped);
    await tImport(dataDir, 'DE', '--undo');
    expect(await tBanks(dataDir, 'DE')).toEqual(imported);
  });

  it.each(['a file', '/proc/nope'])('reports that the data folder cannot be written: %s', async (name) => {
    const folder = tFolder();
    writeFileSync(join(folder, 'a file'), '');
    const dataDir = resolve(folder, name);
    const { code, stdout, stderr } = await tImport(dataDir, 'DE', await tSampleFile(folder, german), '--force');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('DATA_DIR: must be a folder in which');
    expect(stderr).toContain(`but "${dataDir}"`);
  });
});

describe('the data folder', () => {
  it('is .data or DATA_DIR', () => {
    const key = { BANK_DATA_API_KEY: 'right-key' };
    for (const env of [{}, { DATA_DIR: '' }, { DATA_DIR: '/var/lib/ledgerquill' }]) {
      const dataDir = env.DATA_DIR || '.data';
      expect(readBankImportConfig(env)).toEqual({ dataDir });
      expect(readBankDataServiceConfig({ ...env, ...key }).dataDir).toBe(dataDir);
      expect(readConfig(env).dataDir).toBe(dataDir);
    }
  });
});

describe('the service', () => {
  async function bankOf(app: ReturnType<typeof createBankDataService>, iban: string) {
    const url = `/bank_data/iban_validate?iban_number=${iban}`;
    return (await app.inject({ url, headers: { apikey: 'key' } })).json().bank_data;
  }

  it('uses an import without a restart', async () => {
    const folder = tFolder();
    const dataDir = join(folder, 'data');
    const app = createBankDataService({ apiKey: 'key', dataDir });
    const before = { bank_code: '37040044', name: 'Commerzbank', zip: '', city: '', bic: 'COBADEFFXXX' };
    expect(await bankOf(app, 'DE89370400440532013000')).toMatchObject(before);
    expect(existsSync(dataDir)).toBe(false);

    expect((await tImport(dataDir, 'DE', await tSampleFile(folder, german), '--force')).code).toBe(0);
    expect(await bankOf(app, 'DE89370400440532013000')).toMatchObject({
      ...before,
      ...{ zip: '50447', city: 'Köln', bic_source: 'NATIONAL_LIST', source: 'Deutsche Bundesbank' },
    });

    const renamed = { ...german, rows: german.rows.map((row) => row.with(2, 'Umbenannt')) };
    await importElsewhere(dataDir, 'DE', await tSampleFile(folder, renamed));
    expect((await bankOf(app, 'DE89370400440532013000')).name).toBe('Umbenannt');
    await app.close();
  });

  it('leaves only the store in the data folder', async () => {
    const dataDir = tFolder();
    await replaceImport(dataDir, { country: 'CZ', source: 'Registry', date: '2026-11-21', entries: [] });
    const files = ['bank-directory-1.lmdb', 'bank-directory-1.lmdb-lock'];
    expect(readdirSync(dataDir).sort()).toEqual(files);
    const app = createBankDataService({ apiKey: 'key', dataDir });
    await bankOf(app, 'CZ6508000000192000145399');
    await app.close();
    expect(readdirSync(dataDir).sort()).toEqual(files);
  });
});

describe.skipIf(whyNoMount)(`an import on a full disk${whyNoMount}`, () => {
  it.each([0, 8, 12, 28])('is refused with a message, and can be repeated, with %i kB free', async (freeKb) => {
    const path = await tSampleFile(tFolder(), tSample('LI'));
    const disk = tDisk(freeKb);
    const refused = await tImport(disk, 'LI', path, '--force');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/disk is full|No space|ENOSPC/);
    rmSync(join(disk, 'other'));
    expect((await tImport(disk, 'LI', path, '--force')).code).toBe(0);
    expect(await tBanks(disk, 'LI')).not.toEqual([]);
  });
});
