import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { findCountryFormat } from '../../../../src/iban/registry.ts';
import { createBankDirectory } from '../../../../src/self-hosted/bank-data/directory/bank-directory.ts';
import { ImportError } from '../../../../src/self-hosted/bank-data/directory/files/bank-file.ts';
import { importableCountries } from '../../../../src/self-hosted/bank-data/directory/files/formats.ts';
import { readBankFile } from '../../../../src/self-hosted/bank-data/directory/files/read-bank-file.ts';
import { replaceImport } from '../../../../src/self-hosted/bank-data/directory/replace-import.ts';
import { tFile, tLastPlace } from '../../../support/self-hosted/bank-data/directory/sample.ts';
import { samples, tSample } from '../../../support/self-hosted/bank-data/directory/samples.ts';
import { tFolder } from '../../../support/stores/folder.ts';

/** Reads these bytes as a file of this name. */
async function read(country: string, fileName: string, bytes: Buffer | string) {
  const path = join(tFolder(), fileName);
  writeFileSync(path, bytes);
  return readBankFile({ country, path });
}

async function rejection(country: string, fileName: string, bytes: Buffer | string): Promise<string> {
  const error: unknown = await read(country, fileName, bytes).catch((caught) => caught);
  expect(error).toBeInstanceOf(ImportError);
  return error instanceof Error ? error.message : '';
}

describe.each(samples)('the file of $title ($country)', (sample) => {
  const { country, fileName, rows, bank, skipped, invalid, title } = sample;
  const [invalidRow, problem] = invalid;

  it('is read: some rows are imported, others are skipped for a reason', async () => {
    const content = await read(country, fileName, await tFile(sample));
    expect(content.entries).toContainEqual(bank);
    expect(Object.fromEntries(content.skipped)).toEqual(skipped);
    expect(content.rows).toBe(rows.length);
    expect(content.entries).toHaveLength(rows.length - Object.values(skipped).reduce((sum, next) => sum + next, 0));
  });

  it('contains bank codes as in IBANs', async () => {
    const { entries } = await read(country, fileName, await tFile(sample));
    const { first, last } = findCountryFormat(country)?.bankCode ?? { first: 0, last: 0 };
    const lengths = entries.map(({ bankCode }) => bankCode.length);
    if (country === 'FI') expect(Math.max(...lengths)).toBeLessThanOrEqual(3);
    else expect(new Set(lengths)).toEqual(new Set([last - first + 1]));
  });

  it('replaces the list in the directory', async () => {
    const dataDir = tFolder();
    const { entries, format } = await read(country, fileName, await tFile(sample));
    await replaceImport(dataDir, { country, source: format.source, date: '2026-11-21', entries });
    const directory = createBankDirectory({ dataDir });
    expect(directory.findBank(country, bank.bankCode)).toMatchObject({ ...bank, bic: bank.bic || expect.any(String) });
    const { banks } = directory.listBanks({ country, first: 1_000 });
    expect(banks.filter(({ source }) => source.startsWith(format.source))).toHaveLength(entries.length);
    await directory.close();
  });

  it('is rejected for an invalid row, with its position and problem', async () => {
    const message = await rejection(country, fileName, await tFile(sample, [invalidRow]));
    expect(message).toBe(`${tLastPlace(sample)}: ${problem}`);
  });

  it('is rejected for every other country', async () => {
    const bytes = await tFile(sample);
    const sharing = ['CH LI', 'ES FR'].find((pair) => pair.includes(country)) ?? '';
    for (const other of importableCountries().filter((code) => code !== country && !sharing.includes(code))) {
      expect(await rejection(other, fileName, bytes), `${title} as ${other}`).toContain(fileName);
    }
  });

  it('is rejected without its columns', async () => {
    const message = await rejection(country, fileName, await sample.encode([['Something', 'else', 'entirely']]));
    expect(message).toContain(`${fileName} does not look like`);
    expect(message).toMatch(/expected (columns|the bank code) .*, found Something,? ?else,? ?entirely$/);
  });
});

describe('a file', () => {
  const { encode, top, rows } = tSample('DE');
  const german = () => encode([...top, ...rows]);

  it('may have any line endings, or none at the end', async () => {
    const bytes = await german();
    for (const ending of ['\n', '\r\n', '\n\n']) {
      const text = iconv.decode(bytes, 'windows-1252').replaceAll('\r\n', ending).trimEnd();
      expect((await read('DE', 'blz.csv', iconv.encode(text, 'windows-1252'))).entries).toHaveLength(3);
    }
  });

  it('has line numbers that include blank lines', async () => {
    const text = iconv.decode(await german(), 'windows-1252').replaceAll('\r\n', '\r\n\r\n');
    const message = await rejection('DE', 'blz.csv', iconv.encode(`${text}"x";"1"\r\n`, 'windows-1252'));
    expect(message).toMatch(/^blz\.csv, line 13: 2 columns/);
  });

  it('may contain quotation marks in a name', async () => {
    const { entries } = await read('PL', 'pl.txt', await tFile(tSample('PL')));
    expect(entries.map(({ name }) => name)).toContain('Bank "Rolnik" w Żółwiu');
  });

  it('is rejected for a quotation mark that is never closed, with the line where it is opened', async () => {
    const open = Buffer.from('37040045;1;"Bank ohne Ende;50667\r\n37040046;1;Bank;50667\r\n');
    const message = await rejection('DE', 'blz.csv', Buffer.concat([await german(), open]));
    expect(message).toBe('blz.csv, line 7: a quotation mark is opened and never closed');
  });

  it('has a header that is found by its titles in any order', async () => {
    const reversed = await encode([...top, ...rows].map((cells) => cells.toReversed()));
    const { entries } = await read('DE', 'blz.csv', reversed);
    expect(entries).toEqual((await read('DE', 'blz.csv', await german())).entries);
  });

  it.each(['PL', 'SK', 'SI'])('of %s without titles is rejected for an invalid first row too', async (country) => {
    const { top, rows, encode, fileName } = tSample(country);
    const columnOfCode = country === 'PL' ? 4 : 0;
    const invalid = (rows[0] ?? []).map((_, index) => (index === columnOfCode ? '12x' : ''));
    const message = await rejection(country, fileName, await encode([...top, invalid, ...rows]));
    expect(message).toContain(`${fileName}, line ${top.length + 1}: the bank code is "12x"`);
  });

  it('is rejected if it contains no bank of the country', async () => {
    const swiss = tSample('CH');
    const bytes = await swiss.encode([...swiss.top, ...swiss.rows.slice(0, 2)]);
    expect(await rejection('LI', 'bankmaster_V3.csv', bytes)).toMatch(/^bankmaster_V3\.csv contains no bank of LI/);
  });

  it('is rejected if its BICs are of another country', async () => {
    const rows = ['0800;Spořitelna;GIBACZPX', '0100;Komerční;KOMBCZPP'].map((row) => row.split(';'));
    const message = await rejection('SK', 'kody.csv', await tSample('SK').encode(rows));
    expect(message).toMatch(/^kody\.csv is not a file of SK: 2 of its 2 BICs are of CZ/);
  });
});

describe('the encoding of a file', () => {
  const text = async (country: string, encoding: string) => iconv.decode(await tFile(tSample(country)), encoding);

  it.each([
    ['DE', 'windows-1252'],
    ['AT', 'iso-8859-1'],
    ['PL', 'cp852'],
    ['SK', 'windows-1250'],
    ['SI', 'iso-8859-1'],
  ])('of %s is not UTF-8', async (country, encoding) => {
    const bytes = Buffer.from(await text(country, encoding));
    const expected = `list.txt is in UTF-8, but the original is in ${encoding}; import the downloaded file unchanged`;
    expect(await rejection(country, 'list.txt', bytes)).toBe(expected);
  });

  it('of the ECB has a byte order mark, of either order', async () => {
    const content = await text('ES', 'utf-16');
    expect(await rejection('ES', 'mfi.csv', iconv.encode(content, 'utf-16le'))).toBe(
      'mfi.csv does not start with a byte order mark; expected UTF-16 with one',
    );
    const bytes = iconv.encode(content, 'utf-16be', { addBOM: true });
    expect((await read('ES', 'mfi.csv', bytes)).entries).toHaveLength(1);
  });

  it('is reported if it is UTF-16 instead of another', async () => {
    const bytes = iconv.encode(await text('DE', 'windows-1252'), 'utf-16', { addBOM: true });
    expect(await rejection('DE', 'blz.csv', bytes)).toContain('blz.csv is in UTF-16; expected windows-1252');
  });

  it('is reported with the line of invalid bytes', async () => {
    const bytes = iconv.encode(await text('CH', 'utf-8'), 'windows-1252');
    expect(await rejection('CH', 'bank.csv', bytes)).toMatch(/^bank\.csv, line 2: bytes that are not utf-8/);
  });
});

describe('another file', () => {
  it.each([
    ['an unsupported country', 'GB', 'x', /^there is no import for the country "GB"; there is one for AT, BE, CH, /],
    ['an empty file', 'DE', '', /x\.csv is empty$/],
    ['a workbook for a text file', 'DE', 'PK\x03\x04', /^x\.csv is a workbook or an archive; expected a text file$/],
    ['a text file for a workbook', 'NL', 'BIC;Identifier', /^x\.csv is not an XLSX workbook$/],
    [
      'an old workbook',
      'NL',
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      /in the old XLS format or has a password; save it as XLSX without a password$/,
    ],
    ['a damaged workbook', 'NL', 'PK\x03\x04damaged', /^x\.csv is not an XLSX workbook, or is damaged: /],
    ['a web page', 'DE', '<!doctype html>\n<title>', /does not look like the Bundesbank's .* found <!doctype html>$/],
  ])('is rejected: %s', async (_, country, bytes, expected) => {
    expect(await rejection(country, 'x.csv', bytes)).toMatch(expected);
  });

  it('is rejected: a folder, and a missing file', async () => {
    const folder = tFolder();
    mkdirSync(join(folder, 'blz'));
    const reading = (name: string) => readBankFile({ country: 'DE', path: join(folder, name) });
    await expect(reading('blz')).rejects.toThrow(/blz is a folder; expected the downloaded file/);
    await expect(reading('none')).rejects.toThrow(/none does not exist$/);
  });
});

it.each([
  ['NL', [['BIC-lijst'], ['BIC', 'Identifier', 'Betaaldienstverlener / Payment Service Provider']]],
  ['LU', [['Institution', 'IBAN Code', 'BICCode']]],
])('reads the file of %s with the titles of 2026', async (country, top) => {
  const sample = tSample(country);
  const { entries } = await read(country, sample.fileName, await tFile({ ...sample, top }));
  expect(entries).toContainEqual(sample.bank);
});
