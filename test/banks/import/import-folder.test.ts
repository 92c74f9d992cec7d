import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBankFile } from '../../../src/banks/import/files/bank-file.ts';
import { bankFileFormats } from '../../../src/banks/import/files/formats.ts';
import { findFormats } from '../../../src/banks/import/files/recognize.ts';
import { tBanks, tImport, tSampleFile } from '../../support/banks/import/command-line.ts';
import { type Sample, tFile } from '../../support/banks/import/sample.ts';
import { samples, tSample } from '../../support/banks/import/samples.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';

/** The countries for which a file with these bytes is recognized, whatever its name is. */
async function recognize(bytes: Buffer | string): Promise<string[]> {
  const path = join(tFolder(), 'download');
  writeFileSync(path, bytes);
  const file = await openBankFile(path);
  return (await findFormats(file, bankFileFormats()).finally(file.close)).map(({ country }) => country);
}

describe('a file is recognized by its content', () => {
  const shared = ['CH LI', 'ES FR', 'DK FO GL'].map((countries) => countries.split(' '));

  it.each(samples)('as that of $title ($country), and no other', async (sample) => {
    const expected = shared.find((countries) => countries.includes(sample.country)) ?? [sample.country];
    expect(await recognize(await tFile(sample))).toEqual(expected);
  });

  it.each(samples.filter(({ encoding }) => encoding !== undefined))(
    'of $title ($country), also if only its start is read',
    async (sample) => {
      // More than 16 KB.
      const rows = Array.from({ length: 400 }, () => sample.rows).flat();
      expect(await recognize(await tFile({ ...sample, rows }))).toContain(sample.country);
    },
  );

  it('of fixed width, also with spaces at the end of its lines', async () => {
    const sample = samples.find(({ fileName }) => fileName === 'blz.txt') ?? tSample('DE');
    const text = (await tFile(sample)).toString('latin1').replaceAll('\r\n', '  \r\n');
    expect(await recognize(Buffer.from(text, 'latin1'))).toEqual(['DE']);
  });

  it('with the titles of Luxembourg of 2026, which a Belgian list has, too', async () => {
    const sample = tSample('LU');
    expect(await recognize(await tFile({ ...sample, top: [['Institution', 'IBAN Code', 'BICCode']] }))).toEqual(['LU']);
  });

  it.each([
    ['a text', 'Dear customer,\n\nyour list of 20.11.2026 is attached.\n'],
    ['a table of numbers', Array.from({ length: 50 }, (_, index) => `${1000 + index};x;;\n`).join('')],
    ['a table with BICs of another country', '0800;NatWest;NWBKGB2L\n0801;Lloyds;LOYDGB2L\n'],
    ['a web page', '<!doctype html><title>Banks</title>'],
    ['JSON of another kind', '[{"name":"Bank","bic":"COBADEFF"}]'],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
  ])('but not %s', async (_, content) => {
    expect(await recognize(content)).toEqual([]);
  });
});

describe('import-banks --all', () => {
  async function tFolderOf(...files: readonly Sample[]): Promise<string> {
    const folder = tFolder();
    for (const sample of files) await tSampleFile(folder, sample);
    return folder;
  }

  it('imports each file that it recognizes for its countries, and lists the others', async () => {
    const dataDir = tFolder();
    const folder = await tFolderOf(tSample('PL'), tSample('CH'), tSample('HR'));
    writeFileSync(join(folder, 'notes.txt'), 'to do');
    writeFileSync(join(folder, '.hidden'), '');
    mkdirSync(join(folder, 'older'));
    symlinkSync(join(folder, 'older'), join(folder, 'link'));
    const { code, stdout, stderr } = await tImport(dataDir, '--all', folder);
    expect([code, stderr]).toEqual([0, '']);
    const imported = [...stdout.matchAll(/^Imported the banks of (..) from (\S+): was 0, now (\d+)$/gm)];
    expect(imported.map(([, country, path, banks]) => [country, path, banks])).toEqual([
      ['CH', join(folder, 'bankmaster_V3.csv'), '2'],
      ['LI', join(folder, 'bankmaster_V3.csv'), '1'],
      ['PL', join(folder, 'plewibnra.txt'), '2'],
      ['HR', join(folder, 'vbb.xlsx'), '1'],
    ]);
    expect(stdout).toContain(`\n${join(folder, 'plewibnra.txt')}: PL, the Narodowy Bank Polski's EWIB list`);
    const unknown = [...stdout.matchAll(/^Not recognized: (.*)$/gm)].map(([, text]) => text);
    expect(unknown).toEqual([join(folder, 'notes.txt')]);
    expect(await tBanks(dataDir, 'HR')).toHaveLength(1);
  });

  it('imports the others if one file fails, and exits with 1', async () => {
    const dataDir = tFolder();
    const polish = tSample('PL');
    const folder = await tFolderOf(
      { ...polish, rows: [...polish.rows, polish.invalid[0], polish.invalid[0]] },
      tSample('SK'),
    );
    const { code, stderr } = await tImport(dataDir, '--all', folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Nothing was imported for PL: plewibnra\.txt has errors in 2 of 4 rows, .*\.\n$/);
    expect(await tBanks(dataDir, 'SK')).toHaveLength(3);
    expect(await tBanks(dataDir, 'PL')).toEqual([]);
  });

  it('exits with 1 if a workbook is damaged, or a file cannot be read, and imports the others', async () => {
    const dataDir = tFolder();
    const folder = await tFolderOf(tSample('SK'));
    const workbook = await tFile(tSample('NO'));
    writeFileSync(join(folder, 'norway.xlsx'), workbook.subarray(0, workbook.length / 2));
    symlinkSync(join(folder, 'none'), join(folder, 'link'));
    const { code, stdout } = await tImport(dataDir, '--all', folder);
    expect(code).toBe(1);
    expect(stdout).toContain(`Not recognized: ${join(folder, 'link')} (${join(folder, 'link')} does not exist)\n`);
    expect(stdout).toContain(
      `Not recognized: ${join(folder, 'norway.xlsx')} (norway.xlsx is not an XLSX workbook, or `,
    );
    expect(await tBanks(dataDir, 'SK')).toHaveLength(3);
  });

  it('exits with 1 for lists that cannot be read from their first rows on', async () => {
    const folder = tFolder();
    writeFileSync(join(folder, 'nbu.json'), '[{"MFO":300001,"FULLNAME":"НБУ"},{"MFO":30');
    const { top, rows } = tSample('AT');
    const [first = [], ...others] = rows;
    const lines = [...top, first.with(6, '"Bank'), ...others].map((cells) => `${cells.join(';')}\n`);
    writeFileSync(join(folder, 'at.csv'), lines.join(''));
    const { code, stderr } = await tImport(tFolder(), '--all', folder);
    expect(code).toBe(1);
    expect(stderr).toContain('Nothing was imported for UA: nbu.json ends within an entry; download it again.\n');
    expect(stderr).toContain(
      'Nothing was imported for AT: at.csv, line 5: a quotation mark is opened and never closed.\n',
    );
  });

  it('has the reason for each file if it recognizes none', async () => {
    const folder = tFolder();
    writeFileSync(join(folder, 'a.xlsx'), 'PK');
    writeFileSync(join(folder, 'b.csv'), '');
    writeFileSync(join(folder, 'notes.txt'), 'to do');
    const { code, stderr } = await tImport(tFolder(), '--all', folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Nothing was imported: no file in \S+ is recognized: \S+a\.xlsx \(a\.xlsx is not an XLSX /);
    expect(stderr).toMatch(/\); \S+b\.csv \(\S+b\.csv is empty\)\.\n$/);
  });

  it('does not wait for a pipe, also behind a link', async () => {
    const folder = await tFolderOf(tSample('SK'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    symlinkSync(join(folder, 'pipe'), join(folder, 'link'));
    const { code, stdout } = await tImport(tFolder(), '--all', folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Imported the banks of SK')]);
    expect(stdout).not.toContain('Not recognized');
  });

  it('imports none of two files of the same country, since either may be the older one', async () => {
    const dataDir = tFolder();
    const [csv, xml] = samples.filter(({ country }) => country === 'LT');
    const folder = await tFolderOf(...[csv, xml].filter((sample) => sample !== undefined));
    const { code, stderr } = await tImport(dataDir, '--all', folder);
    expect(code).toBe(1);
    for (const path of ['FIK_KODAI_20261008-en.csv', 'branches.xml']) {
      expect(stderr).toContain(`${join(folder, path)} has the banks of LT, too; leave one of the two in the folder.`);
    }
    expect(await tBanks(dataDir, 'LT')).toEqual([]);
  });

  it('exits with 1 if it recognizes no file, or if there is no folder', async () => {
    const folder = tFolder();
    const nothing = `Nothing was imported: no file in ${folder} is recognized.\n`;
    expect(await tImport(tFolder(), '--all', folder)).toEqual({ code: 1, stdout: '', stderr: nothing });
    const { code, stderr } = await tImport(tFolder(), '--all', join(folder, 'none'));
    expect(code).toBe(1);
    expect(stderr).toBe(`Nothing was imported: ${join(folder, 'none')} must be a folder that can be read (ENOENT).\n`);
  });
});
