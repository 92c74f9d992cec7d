import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { createBankDirectory } from '../../../src/bank-data-service/bank-directory.ts';
import { ImportError } from '../../../src/banks/import/files/bank-file.ts';
import { importableCountries } from '../../../src/banks/import/files/formats.ts';
import { readBankFile } from '../../../src/banks/import/files/read-bank-file.ts';
import { replaceImport } from '../../../src/banks/import/replace-import.ts';
import { findCountryFormat } from '../../../src/iban/registry.ts';
import { fixedWidth, tArchive, tFile, tRow, tWorkbookFiles } from '../../support/banks/import/sample.ts';
import { samples, tSample } from '../../support/banks/import/samples.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';

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
  const { country, fileName, rows, bank, skipped, title } = sample;

  it('is read: some rows are imported, others are skipped for a reason', async () => {
    const content = await read(country, fileName, await tFile(sample));
    const skippedRows = Object.values(skipped).reduce((sum, next) => sum + next, 0);
    expect(content.entries).toContainEqual(bank);
    expect(Object.fromEntries(content.skipped)).toEqual(skipped);
    expect(content.rows).toBe(rows.length);
    expect(content.entries).toHaveLength(sample.banks ?? rows.length - skippedRows);
    expect(content.faults).toEqual({ count: 0, leftOut: 0, first: [] });
  });

  it('contains bank codes as in IBANs', async () => {
    const { entries } = await read(country, fileName, await tFile(sample));
    const { first, last } = findCountryFormat(country)?.bankCode ?? { first: 0, last: 0 };
    const lengths = entries.map(({ bankCode }) => bankCode.length);
    // Banks, and branches.
    if (country === 'HU') expect(new Set(lengths)).toEqual(new Set([3, 7]));
    else expect(new Set(lengths)).toEqual(new Set([last - first + 1]));
  });

  it('has the date of the list, or that of the import', async () => {
    const path = join(tFolder(), fileName);
    writeFileSync(path, await tFile(sample));
    const { date, dateOrigin, validUntil } = await readBankFile({ country, path, today: '2026-11-25' });
    expect(date).toBe(sample.date ?? '2026-11-25');
    expect(dateOrigin === 'import').toBe(sample.date === undefined);
    expect(validUntil > date).toBe(true);
  });

  it('is complete only with a date, and not if some banks are never in it', async () => {
    const path = join(tFolder(), fileName);
    writeFileSync(path, await tFile(sample));
    const isAlwaysIncomplete = ['ES', 'FI', 'FR', 'UA'].includes(country);
    const undated = await readBankFile({ country, path, today: '2026-11-25' });
    expect(undated.isComplete).toBe(!isAlwaysIncomplete && sample.date !== undefined);
    const dated = await readBankFile({ country, path, today: '2026-11-25', date: '2026-11-20' });
    expect(dated.isComplete).toBe(!isAlwaysIncomplete);
  });

  it('replaces the list in the directory', async () => {
    const dataDir = tFolder();
    const { entries, format } = await read(country, fileName, await tFile(sample));
    await replaceImport(dataDir, { country, source: format.source, date: '2026-11-21', entries });
    const directory = createBankDirectory({ dataDir });
    const { accountCheckMethod: _, ...inDirectory } = bank;
    const found = directory.findBank(country, bank.bankCode);
    expect(found).toMatchObject({ ...inDirectory, bic: bank.bic || expect.any(String) });
    const { banks } = directory.listBanks({ country, first: 1_000 });
    // Branches, which only the list of Hungary has, are found, and are no banks.
    const listed = entries.filter(({ bankCode }) => country !== 'HU' || bankCode.length === 3);
    expect(banks.filter(({ source }) => source.startsWith(format.source))).toHaveLength(listed.length);
    await directory.close();
  });

  it('is rejected for every other country', async () => {
    const bytes = await tFile(sample);
    const sharing = ['CH LI', 'ES FR', 'DK FO GL'].find((pair) => pair.includes(country)) ?? '';
    for (const other of importableCountries().filter((code) => code !== country && !sharing.includes(code))) {
      expect(await rejection(other, fileName, bytes), `${title} as ${other}`).toContain(fileName);
    }
  });

  it('is rejected without its columns', async () => {
    const message = await rejection(country, fileName, await sample.encode([['Something', 'else', 'entirely']]));
    expect(message).toContain(`${fileName} does not look like`);
    expect(message).toMatch(
      /expected (columns|the bank code) .*, found (branch )?Something,? ?(branch )?else,? ?(branch )?entirely$/,
    );
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
    const { faults } = await read('DE', 'blz.csv', iconv.encode(`${text}"x";"1"\r\n`, 'windows-1252'));
    expect(faults.first).toEqual(['line 13, left out: 2 columns; a row of this file has 13']);
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

  it.each([
    ['in the next line', '37040045;1;"Bank;50667\r\n37040046;1;Bank";50667\r\n', 7],
    ['after blank lines', '\r\n37040045;1;"Bank;50667\r\n\r\n\r\n37040046;1;"Bank";50667\r\n', 8],
    ['in a row of its own', `${'x;'.repeat(12)}"\r\n"\r\n`, 7],
  ])('is rejected for a quotation mark that is closed %s', async (_, rest, line) => {
    const message = await rejection('DE', 'blz.csv', Buffer.concat([await german(), Buffer.from(rest)]));
    expect(message).toBe(`blz.csv, line ${line}: a quotation mark is opened, and closed only in a later line`);
  });

  const [firstRow = []] = rows;
  it.each([
    ['a wrong BIC', 'blz.csv', tSample('DE').encode([firstRow.with(7, 'COBADEF')])],
    ['too few columns', 'blz.csv', tSample('DE').encode([firstRow.slice(0, 5)])],
    ['a wrong BIC', 'psp.txt', tSample('SI').encode([['35002', 'Banka', '', '', '', 'BFKKSI2']])],
    ['a short line', 'blz.txt', fixedWidth.encode([firstRow.slice(0, 3)])],
  ])('is rejected if its last line has no end, and %s: %s', async (_, fileName, last) => {
    const sample = samples.find((each) => each.fileName === fileName) ?? tSample('DE');
    const bytes = Buffer.concat([await tFile(sample), await last]);
    expect((await read(sample.country, fileName, bytes)).faults.count).toBe(1);
    const line = sample.top.length + sample.rows.length + 1;
    expect(await rejection(sample.country, fileName, bytes.subarray(0, -2))).toBe(
      `${fileName} ends within line ${line}; download it again`,
    );
  });

  const extended = (rule: string) => [...top.map((cells) => [...cells, 'IBAN-Regel']), [...firstRow, rule]];
  it.each([
    ['fixed width', 'blz.txt', (rule: string) => fixedWidth.encode([[...firstRow, rule]])],
    ['CSV', 'blz.csv', (rule: string) => encode(extended(rule))],
  ])('of Germany may have the IBAN rule of each bank code: %s', async (_, fileName, write) => {
    const { entries } = await read('DE', fileName, await write('000503'));
    expect(entries).toMatchObject([{ bankCode: '37040044', accountCheckMethod: '10', ibanRule: '000503' }]);
    const message = await rejection('DE', fileName, await write('0005-3'));
    expect(message).toContain('the IBAN rule is "0005-3"; it must have 6 digits');
  });

  it('is rejected for a quotation mark that would give a bank the BIC of another', async () => {
    const text = '0800;"Spořitelna;GIBACZPX;A\n0100;Komerční";KOMBCZPP;A\n';
    expect(await rejection('CZ', 'cz.csv', `Kód;Název;BIC;CERTIS\n6600;Banking Circle;BCIRCZPP;-\n${text}`)).toBe(
      'cz.csv, line 3: a quotation mark is opened, and closed only in a later line',
    );
  });

  it('has a header that is found by its titles in any order', async () => {
    const reversed = await encode([...top, ...rows].map((cells) => cells.toReversed()));
    const { entries } = await read('DE', 'blz.csv', reversed);
    expect(entries).toEqual((await read('DE', 'blz.csv', await german())).entries);
  });

  it.each(['PL', 'SK', 'SI'])('of %s without titles may have an invalid first row, too', async (country) => {
    const { top, rows, encode, fileName } = tSample(country);
    const columnOfCode = country === 'PL' ? 4 : 0;
    const invalid = (rows[0] ?? []).with(columnOfCode, '12x');
    const { faults } = await read(country, fileName, await encode([...top, invalid, ...rows]));
    expect(faults).toMatchObject({ count: 1, leftOut: 1 });
    expect(faults.first[0]).toContain(`line ${top.length + 1}, left out: the bank code is "12x"`);
  });

  it('without titles may have a title with a date', async () => {
    const { rows, encode } = tSample('SK');
    const title = ['Prevodník identifikačných kódov platný od 18. 5. 2026', '', '', ''];
    const { date, faults } = await read('SK', 'kody.csv', await encode([title, ['Kód', 'Názov', 'BIC', ''], ...rows]));
    expect([date, faults.count]).toEqual(['2026-05-18', 0]);
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
  it('of the ECB may be UTF-16 of either order, but not one that cannot be recognized', async () => {
    const { encode, top, rows } = tSample('ES');
    const text = iconv.decode(await encode([...top, ...rows]), 'utf-16');
    const { entries } = await read('ES', 'mfi.csv', iconv.encode(text, 'utf-16be', { addBOM: true }));
    expect(entries).toHaveLength(1);
    expect(await rejection('ES', 'mfi.csv', iconv.encode(text, 'windows-1252'))).toBe(
      'mfi.csv is neither in utf-16, as it is published, nor in utf-8; import the downloaded file unchanged',
    );
  });

  it.each([
    ['CH', 'windows-1252', /^x\.csv, line 2: bytes that are not utf-8; import the downloaded file unchanged$/],
    ['DE', 'cp852', /^x\.csv, line 1: bytes that are not windows-1252/],
    ['PL', 'windows-1250', /^x\.csv, line 1: bytes that are not cp852/],
    ['UA', 'windows-1251', /^x\.csv, entry 1: bytes that are not utf-8/],
    [
      'SK',
      'iso-8859-2',
      /^x\.csv, line 2: the letter "ą", .* must be in windows-1250, as it is published, or in utf-8;/,
    ],
    ['SK', 'cp852', /^x\.csv, line 2: the letter "ç", .* must be in windows-1250/],
    ['SI', 'iso-8859-2', /^x\.csv, line 2: the letter "ľ", .* must be in windows-1250/],
    ['LT', 'iso-8859-4', /^x\.csv, line 3: the letter "ģ", .* must be in windows-1257/],
  ])('of %s is named, with the line, if it is %s instead', async (country, encoding, expected) => {
    const { encode, top, rows, encoding: published = '' } = tSample(country);
    const text = iconv.decode(await encode([...top, ...rows]), published);
    expect(await rejection(country, 'x.csv', iconv.encode(text, encoding))).toMatch(expected);
  });
});

it('a copy in UTF-8 may have letters of any language', async () => {
  const { entries } = await read('SK', 'sk.csv', 'Kód;Názov;BIC;\n0200;Banca Română, ą;SUBASKBX;x\n');
  expect(entries.map(({ name }) => name)).toEqual(['Banca Română, ą']);
});

describe('another file', () => {
  it.each([
    ['an unsupported country', 'GB', 'x', /^there is no import for the country "GB"; there is one for AT, BE, CH, /],
    ['an empty file', 'DE', '', /x\.csv is empty$/],
    ['a workbook for a text file', 'DE', 'PK\x03\x04', /^x\.csv is a workbook or an archive; expected a text file$/],
    ['a text file for a workbook', 'NL', 'BIC;Identifier', /^x\.csv is not an XLSX workbook, or is damaged: /],
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

describe('the list of Poland', () => {
  const [row = []] = tSample('PL').rows;
  const polish = (code: string, name: string, bic: string) => row.with(4, code).with(1, name).with(19, bic);

  it('gives a row without a BIC the one of its institution, if it has only one', async () => {
    const rows = [
      polish('10100000', 'Narodowy Bank Polski', 'NBPLPLPWXXX'),
      polish('10100039', 'Narodowy Bank Polski', ''),
      polish('10100055', 'Narodowy Bank Polski', 'NBPLPLPWXX'),
      polish('10200000', 'PKO', 'BPKOPLPWXXX'),
      polish('10200003', 'PKO', 'BPKOPLPWINT'),
      polish('10200005', 'PKO', ''),
      polish('10300000', 'Bank ohne', ''),
    ];
    const { entries, faults } = await read('PL', 'plewibnra.txt', await tSample('PL').encode(rows));
    const bics = entries.map(({ bic }) => bic);
    expect(bics).toEqual(['NBPLPLPWXXX', 'NBPLPLPWXXX', 'NBPLPLPWXXX', 'BPKOPLPWXXX', 'BPKOPLPWINT', '', '']);
    expect(faults).toMatchObject({ count: 1, leftOut: 0 });
  });
});

describe('the list of Hungary', () => {
  const names = async (...rows: readonly (readonly [code: string, name: string])[]) => {
    const { top, encode } = tSample('HU');
    const cells = rows.map(([code, name]) => [code, 'OTPVHUHB', name, 'Budapest']);
    const { entries } = await read('HU', 'sht.xlsx', await encode([...top, ...cells]));
    return Object.fromEntries(entries.map(({ bankCode, name }) => [bankCode, name]));
  };

  it('has each branch under the 7 digits of bank and branch, without the check digit', async () => {
    expect(await names(['11773016', 'OTP XVI. kerület'], ['11700024', 'OTP Központi Fiók'])).toEqual({
      '117': 'OTP Központi Fiók',
      '1177301': 'OTP XVI. kerület',
      '1170002': 'OTP Központi Fiók',
    });
  });

  it.each([
    [
      'a row without a branch',
      [
        ['11600006', 'Erste Központ'],
        ['116', 'Erste Bank Hungary'],
      ],
      '116',
      'Erste Bank Hungary',
    ],
    [
      'the word for head office',
      [
        ['11600006', 'Erste A'],
        ['11600099', 'Erste KÖZPONTI FIÓK'],
      ],
      '116',
      'Erste KÖZPONTI FIÓK',
    ],
    [
      'the lowest number',
      [
        ['11991102', 'B'],
        ['11600006', 'A'],
        ['11600013', 'C'],
      ],
      '116',
      'A',
    ],
    [
      'the lowest number, and not a shopping center',
      [
        ['12000107', 'Árkád Bevásárlóközpont'],
        ['12000008', 'A'],
      ],
      '120',
      'A',
    ],
  ] as const)('has the head office of a bank under its 3 digits: by %s', async (_, rows, bankCode, name) => {
    expect(await names(...rows)).toMatchObject({ [bankCode]: name });
  });
});

describe('the list of Denmark', () => {
  const { top, encode, rows } = tSample('DK');
  const codes = async (country: string, ...cells: readonly (readonly (string | number)[])[]) => {
    const { entries } = await read(country, 'dk.xlsx', await encode([...top, ...cells]));
    return entries.map(({ bankCode }) => bankCode);
  };

  it('has an entry for each number of a range', async () => {
    expect(await codes('DK', ['DK', 3000, '3002', 'DABADKKK', 'Danske Bank'])).toEqual(['3000', '3001', '3002']);
  });

  it('may have headings in place of a country in each row', async () => {
    const headings = rows.flatMap(([country = '', ...cells]) => [[country === 'FO' ? 'Færøerne' : ''], ['', ...cells]]);
    expect(await codes('DK', ...headings)).toHaveLength(8);
    expect(await codes('FO', ...headings)).toEqual(['6460', '6461', '6471']);
  });

  it.each(['Faroe Islands (FO)', 'Faroe Islands:', 'Faeroe Islands', 'Føroyar', 'The Faroe Islands (FO):', 'fo'])(
    'may have the heading "%s"',
    async (heading) => {
      const cells = [['', 3000, '', 'DABADKKK', 'Danske'], [heading], ['', 6460, '', 'FIFBFOTX', 'Faroe Bank']];
      expect(await codes('FO', ...cells)).toEqual(['6460']);
      expect(await codes('DK', ...cells)).toEqual(['3000']);
    },
  );

  it.each(['Kalaallit Nunaat', 'Grønland:', 'Greenland (GL)'])('may have the heading "%s"', async (heading) => {
    expect(await codes('GL', [heading], ['', 6471, '', 'GRENGLGX', 'GrønlandsBANKEN'])).toEqual(['6471']);
  });

  it.each([
    ['a range with a number of another', [3000, 3000, 'Danske'], [2999, 3001, 'Jyske'], 'its range has a bank code of'],
    ['a number in a range of another', [2000, 3000, 'Danske'], [2500, '', 'Jyske'], 'its bank code is in a range of'],
    ['a range in one of another', [2000, 3000, 'Danske'], [2500, 2501, 'Jyske'], 'its range has a bank code of'],
    ['a range around one of another', [2500, 2501, 'Danske'], [2000, 3000, 'Jyske'], 'its range has a bank code of'],
  ])('has no bank with %s', async (_, first, second, problem) => {
    const cells = [first, second].map(([from = '', to = '', name = '']) => ['DK', from, to, 'DABADKKK', name]);
    const { entries, faults, isComplete } = await read('DK', 'dk.xlsx', await encode([...top, ...cells]));
    expect(new Set(entries.map(({ name }) => name))).toEqual(new Set(['Danske']));
    expect(faults).toEqual({ count: 1, leftOut: 1, first: [`sheet "Sheet1", row 4, left out: ${problem} Danske`] });
    expect(isComplete).toBe(false);
  });

  it('may have ranges of a bank that overlap', async () => {
    const ranges = [
      ['DK', 1000, 1003, 'DABADKKK', 'Danske Bank'],
      ['DK', 1002, 1005, 'DABADKKK', 'Danske Bank'],
    ];
    expect(await codes('DK', ...ranges)).toEqual(['1000', '1001', '1002', '1003', '1004', '1005']);
  });

  it('may have its titles again, but no other text in place of a number', async () => {
    const bank = ['DK', 3000, '', 'DABADKKK', 'Danske Bank'];
    const titles = [['Country', 'From', 'To'], bank, ['', 'Kalaallit Nunaat'], ['', 'To be announced', '', '', 'Bank']];
    const { faults, skipped } = await read('DK', 'dk.xlsx', await encode([...top, bank, ...titles]));
    expect(skipped.get('titles')).toBe(1);
    expect(faults.count).toBe(0);
    const wrong = await read('DK', 'dk.xlsx', await encode([...top, bank, ...titles.slice(0, 2), titles[3] ?? []]));
    expect(wrong.faults.first).toEqual([
      'sheet "Sheet1", row 6, left out: the bank code is "To be announced"; it must be 4 digits',
    ]);
    expect(wrong.isComplete).toBe(false);
  });

  it('may have a number of a bank, and then a range with it', async () => {
    const cells = [
      ['DK', 1000, 1000, 'DABADKKK', 'Danske Bank'],
      ['DK', 1000, 1002, 'DABADKKK', 'Danske Bank'],
      ['DK', 1001, 1002, 'DABADKKK', 'Danske Bank'],
    ];
    const { entries, faults, skipped } = await read('DK', 'dk.xlsx', await encode([...top, ...cells]));
    expect(entries.map(({ bankCode }) => bankCode)).toEqual(['1000', '1001', '1002']);
    expect(faults.count).toBe(0);
    expect([...skipped]).toEqual([['further rows of an imported bank code', 1]]);
  });

  it('has ranges of at most 2,000 numbers', async () => {
    const range = (to: string) => ['DK', '3000', to, 'DABADKKK', 'Danske Bank'];
    expect(await codes('DK', range('4999'))).toHaveLength(2_000);
    expect(await rejection('DK', 'dk.xlsx', await encode([...top, range('5000')]))).toBe(
      'dk.xlsx has errors in 1 of 1 rows, more than one in a hundred: sheet "Sheet1", row 3, left out: ' +
        'the range from 3000 to 5000 has more than 2,000 bank codes, the limit',
    );
  });

  it('has at most twice as many numbers as there are', async () => {
    const ranges = Array.from({ length: 10 }, () => ['DK', 3000, 4999, 'DABADKKK', 'Danske Bank']);
    expect(await codes('DK', ...ranges)).toHaveLength(2_000);
    const bytes = await encode([...top, ...ranges, ['DK', 1, 2, 'DABADKKK', 'Bank']]);
    expect(await rejection('DK', 'dk.xlsx', bytes)).toBe(
      'dk.xlsx: its ranges have more than 20,000 bank codes, the limit for a file',
    );
  });

  it('needs the titles of the range', async () => {
    const other = top.map((cells) => cells.map((cell) => (cell === 'From' ? 'Number' : cell)));
    expect(await rejection('DK', 'dk.xlsx', await encode([...other, ...rows]))).toContain(
      'dk.xlsx does not look like Finance Denmark',
    );
  });
});

describe('an error value', () => {
  it.each(['first', 'last'])('in place of a bank code leaves the %s row out', async (position) => {
    const { top, rows, encode } = tSample('NO');
    const broken = ['#REF!', 'DNBANOKK', 'DNB'];
    const cells = position === 'first' ? [...top, broken, ...rows] : [...top, ...rows, broken];
    const { faults, skipped } = await read('NO', 'no.xlsx', await encode(cells));
    expect(faults).toMatchObject({ count: 1, leftOut: 1 });
    expect(faults.first[0]).toMatch(/, left out: the code is the error value "#REF!" of a spreadsheet$/);
    expect(skipped.size).toBe(0);
  });

  it.each([
    ['of a formula', '<c r="A2" t="e"><f>A9</f><v>#N/A</v></c>', '#N/A'],
    ['with a namespace', "<x:c r='A2' t='e'><x:v>#REF!</x:v></x:c>", '#REF!'],
  ])('%s is not read as an empty cell', async (_, cell, value) => {
    const [first, bank] = [tRow(1, '0530', 'DNBANOKK', 'DNB'), tRow(2, '', 'NDEANOKK', 'Nordea')];
    const row = bank.replace(/<c r="A2".*?<\/c>/, cell);
    const { faults } = await read('NO', 'no.xlsx', tArchive(tWorkbookFiles(first + row)));
    expect(faults.first).toEqual([
      `sheet "Banks", row 2, left out: the code is the error value "${value}" of a spreadsheet`,
    ]);
  });

  it('in place of a BIC leaves it empty', async () => {
    const { top, rows, encode } = tSample('NO');
    const bytes = await encode([...top, ...rows, ['8601', '#N/A', 'Danske Bank']]);
    const { entries, faults } = await read('NO', 'no.xlsx', bytes);
    expect(entries).toContainEqual({ bankCode: '8601', name: 'Danske Bank', zip: '', city: '', bic: '' });
    expect(faults).toMatchObject({ count: 1, leftOut: 0 });
  });
});

it.each([1, 20])('the file of fixed width may have %i spaces at the end of its lines', async (spaces) => {
  const sample = samples.find(({ fileName }) => fileName === 'blz.txt') ?? tSample('DE');
  const bytes = await tFile(sample);
  const copy = Buffer.from(bytes.toString('latin1').replaceAll('\r\n', `${' '.repeat(spaces)}\r\n`), 'latin1');
  const { entries, faults } = await read('DE', 'blz.txt', copy);
  expect(entries).toEqual((await read('DE', 'blz.txt', bytes)).entries);
  expect(faults.count).toBe(0);
});

it.each(['-', '–', '/', 'N/A', 'n/a', ''])('a list may have "%s" in place of a BIC', async (none) => {
  const { top, rows, encode } = tSample('NO');
  const { entries, faults } = await read(
    'NO',
    'no.xlsx',
    await encode([...top, ...rows, ['8601', none, 'Danske Bank']]),
  );
  expect(entries).toContainEqual({ bankCode: '8601', name: 'Danske Bank', zip: '', city: '', bic: '' });
  expect(faults.count).toBe(0);
});

it('the list of Lithuania may have a row of empty cells, and spaces that do not break', async () => {
  const { top, rows, encode } = tSample('LT');
  const spaces = (rows[0] ?? []).map((cell) => (cell === '' ? '' : `${cell}\u00a0`));
  const { entries, faults } = await read('LT', 'lt.csv', await encode([...top, spaces, rows[0]?.map(() => '') ?? []]));
  expect(entries).toEqual([
    { bankCode: '32500', name: 'Revolut Bank UAB', zip: '08130', city: 'Vilnius', bic: 'REVOLT21' },
  ]);
  expect(faults.count).toBe(0);
});

describe('the list of Ukraine', () => {
  const bank = '{"MFO":300001,"FULLNAME":"НБУ","SHORTNAME":"НБУ","N_GOL":"НБУ"}';

  it('may be on one line, have other fields, and miss some', async () => {
    const { entries } = await read('UA', 'nbu.json', `[${bank},{"MFO":"305299","SHORTNAME":"Приват","X":[1]}]`);
    expect(entries.map(({ bankCode, name }) => [bankCode, name])).toEqual([
      ['300001', 'НБУ'],
      ['305299', 'Приват'],
    ]);
  });

  it('may have an entry that is not valid JSON', async () => {
    const { entries, faults } = await read('UA', 'nbu.json', `[${bank},{"MFO":305299,"FULLNAME":"АТ "Банк""}]`);
    expect(entries).toHaveLength(1);
    expect(faults).toEqual({ count: 1, leftOut: 1, first: ['entry 2, left out: it is not valid JSON'] });
  });

  it('may have braces and quotation marks in a text, wherever a chunk ends', async () => {
    const [start, end] = [`[${bank},`, '{"MFO":305299,"FULLNAME":"Банк {А} \\"Б} {"},{"MFO":322313,"FULLNAME":"}{"}]'];
    const filler = `{${' '.repeat(8_998)}},`;
    for (let at = 0; at <= Buffer.byteLength(end); at++) {
      // The first chunk of a file has 64 KiB.
      const bytes = 65_536 - Buffer.byteLength(start) - at;
      const middle = filler.repeat(bytes / filler.length) + ' '.repeat(bytes % filler.length);
      const { entries } = await read('UA', 'nbu.json', start + middle + end);
      expect(entries.map(({ name }) => name)).toEqual(['НБУ', 'Банк {А} "Б} {', '}{']);
    }
  });

  it.each([2, 4_000])('may have an entry with lists in %i levels, which is left out', async (levels) => {
    const nested = `{"MFO":305299,"FULLNAME":"Б","X":${'['.repeat(levels)}1${']'.repeat(levels)}}`;
    const { entries, faults } = await read('UA', 'nbu.json', `[${nested},${bank}]`);
    expect(entries.map(({ bankCode }) => bankCode)).toEqual(['300001']);
    expect(faults).toEqual({ count: 1, leftOut: 1, first: ['entry 1, left out: it has a list within a list'] });
  });

  it('may have entries with a text that is never closed, or in another one', async () => {
    const { entries, faults } = await read(
      'UA',
      'nbu.json',
      `[${`${bank},\n`.repeat(300)}{"MFO":305299,"FULLNAME":"АТ "Банк"},\n{"MFO":322313,"FULLNAME":"Б","X":{"A":1}}]`,
    );
    expect(entries).toHaveLength(1);
    expect(faults.first).toEqual([301, 302].map((entry) => `entry ${entry}, left out: it is not valid JSON`));
  });

  it.each([
    ['is cut off', `[${bank},{"MFO":30`, 'nbu.json ends within an entry; download it again'],
    ['is cut off after an entry', `[${bank}`, 'nbu.json ends within its list; download it again'],
    ['is cut off before an entry', `[${bank},\r\n`, 'nbu.json ends within its list; download it again'],
    ['has a long entry', `[{"MFO":"${'x'.repeat(10_000)}"}]`, 'an entry of more than 10,000 characters, the limit'],
    ['has other fields', '[{"a":1,"b":2}]', /expected columns MFO, FULLNAME or SHORTNAME or N_GOL, found a, b$/],
  ])('is refused if it %s', async (_, text, message) => {
    expect(await rejection('UA', 'nbu.json', text)).toMatch(message);
  });
});

describe('the XML list of Lithuania', () => {
  const branch = '<branch><FICODE>32500</FICODE><NAME/></branch>';
  const list = (content: string) => `<list><!-- x --><participant>${content}</participant></list>`;

  it('may have namespaces, attributes, comments, references and the BIC after the branches', async () => {
    const name = '<NAME>A &amp; B <![CDATA[& <C> ]] >]]> &#8222;D&#x201c; > &unknown;</NAME><!--NAME><NAME>E</NAME-->';
    const { entries } = await read(
      'LT',
      'lt.xml',
      `<?xml version="1.0"?>${list(`${branch}${name}<s><a:BIC x="1">REVOLT21</a:BIC></s>`)}`,
    );
    expect(entries.map(({ name: text, bic }) => [text, bic])).toEqual([
      ['A & B & <C> ]] > „D“ > &unknown;', 'REVOLT21'],
    ]);
  });

  it.each([
    ['is cut off', `<list><participant>${branch}`, 'lt.xml ends within an entry; download it again'],
    [
      'is cut off after an entry',
      list(branch).replace('</list>', ''),
      'lt.xml ends within its list; download it again',
    ],
    ['is cut off within its end', list(branch).replace('</list>', '</list'), 'lt.xml ends within its list;'],
    ['is cut off within a tag', list(branch).replace('</list>', '<participant'), 'lt.xml ends within its list;'],
    ['has a long text', list(`<BIC>${'x'.repeat(10_001)}</BIC>`), 'an entry of more than 10,000 characters'],
    ['has a long tag', `<${'x'.repeat(10_001)}`, 'an entry of more than 10,000 characters'],
    ['has many fields', list(Array.from({ length: 201 }, (__, n) => `<f${n}>a</f${n}>`).join('')), 'an entry of more'],
    ['has many branches', list(branch.repeat(10_001)), 'an entry of more than 10,000 characters'],
    ['is a web page', '<!doctype html><title>Participants</title>', 'does not look like the Lietuvos bankas'],
  ])('is refused if it %s', async (_, text, message) => {
    expect(await rejection('LT', 'lt.xml', text)).toContain(message);
  });
});

it('gives a bank of Finland all bank codes that begin with its digits', async () => {
  const sample = tSample('FI');
  const { entries } = await read('FI', sample.fileName, await tFile(sample));
  const codes = entries.filter(({ name }) => name === 'OP Ryhmä').map(({ bankCode }) => bankCode);
  expect([codes.length, codes.at(0), codes.at(-1)]).toEqual([100, '500', '599']);
});
