import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ImportError } from '../../../src/banks/import/files/bank-file.ts';
import { readBankFile } from '../../../src/banks/import/files/read-bank-file.ts';
import { tArchive, tRow, tWorkbookFiles } from '../../support/banks/import/archive.ts';
import type { MeasuredImport } from '../../support/banks/import/measured-imports.ts';
import { fixedWidth } from '../../support/banks/import/sample.ts';
import { tSample } from '../../support/banks/import/samples.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { bundleScript } from '../../support/process.ts';
import { tShared } from '../../support/shared.ts';

// cspell:ignore sharedstrings

const bank = tRow(1, '0530', 'DNBANOKK', 'DNB');
const german = tSample('DE');
const [germanHeader = [], germanRow = []] = [...german.top, ...german.rows];

function tFileOf(bytes: Buffer | string, name = 'x.xlsx'): string {
  const path = join(tFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

/** A workbook with this XML of rows, and other files. */
function tWorkbook(
  rows: string,
  more: Parameters<typeof tWorkbookFiles>[1] = {},
  options: Parameters<typeof tArchive>[1] = {},
) {
  return tFileOf(tArchive(tWorkbookFiles(rows, more), options));
}

async function rejection(country: string, path: string): Promise<string> {
  const error: unknown = await readBankFile({ country, path }).catch((caught) => caught);
  expect(error).toBeInstanceOf(ImportError);
  return error instanceof Error ? error.message : '';
}

/** A process that imports files and measures its memory. */
const importer = tShared(async (onFinished) => {
  const child = fork(bundleScript('test/support/banks/import/measured-imports.ts'), {
    execArgv: ['--expose-gc'],
    env: { DATA_DIR: tFolder(onFinished) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onFinished(() => void child.kill());
  return child;
});

/** Runs the import of a file. @returns its message, and the peak of the memory in MiB */
async function tMeasuredImport(country: string, path: string): Promise<MeasuredImport> {
  const measured = once(importer(), 'message');
  importer().send([country, path]);
  const [result] = await measured;
  return result;
}

const shared = (xml: string) => ({ 'xl/sharedStrings.xml': `<sst>${xml}</sst>` });

/** Rows of the same bank and these cells, with `$` instead of the number of the row. */
const cells = (count: number, more = '') =>
  Array.from({ length: count }, (_, index) =>
    `<row r="$"><c r="A$"><v>530</v></c><c r="B$" t="str"><v>DNBANOKK</v></c>${more}</row>`.replaceAll(
      '$',
      `${index + 1}`,
    ),
  ).join('');

/** What must not use more memory than a file within the limits. */
const large: Record<string, [country: string, createFile: () => string, expected: RegExp]> = {
  'a CSV file of many rows': [
    'DE',
    () =>
      tFileOf(
        Buffer.from(`${germanHeader.join(';')}\n${`${germanRow.join(';')}\n`.repeat(150_000)}`, 'latin1'),
        'x.csv',
      ),
    /x\.csv has more than 150,000 lines, the limit for a bank file/,
  ],
  'a CSV file of many blank lines': [
    'DE',
    () => tFileOf('\n'.repeat(12_000_000), 'x.csv'),
    /x\.csv has more than 150,000 lines, the limit for a bank file/,
  ],
  'a CSV file of one line': [
    'DE',
    () => tFileOf('x'.repeat(30_000_000), 'x.csv'),
    /x\.csv, line 1: more than 10,000 characters, the limit for a line/,
  ],
  'a CSV file of one line of separators': [
    'DE',
    () => tFileOf(';'.repeat(12_000_000), 'x.csv'),
    /x\.csv, line 1: more than 10,000 characters, the limit for a line/,
  ],
  'a CSV file with an open quotation mark': [
    'DE',
    () => tFileOf(`a\nb;"${'c\n'.repeat(149_000)}`, 'x.csv'),
    /x\.csv, line 2: a quotation mark is opened and never closed/,
  ],
  'a file of fixed width of one line': [
    'DE',
    () => tFileOf('1'.repeat(12_000_000), 'x.txt'),
    /x\.txt, line 1: more than 10,000 characters, the limit for a line/,
  ],
  'a CSV file of one line in UTF-16': [
    'DE',
    () => tFileOf(Buffer.from(`\ufeff${'x'.repeat(6_000_000)}`, 'utf16le'), 'x.csv'),
    /x\.csv, line 1: more than 10,000 characters, the limit for a line/,
  ],
  'a JSON file of many entries': [
    'UA',
    () => tFileOf(`[${'{"MFO":300001,"FULLNAME":"Національний банк України"},'.repeat(150_001)}]`, 'x.json'),
    /x\.json has more than 150,000 entries, the limit for a bank file/,
  ],
  'a JSON file of one entry': [
    'UA',
    () => tFileOf(`[{"MFO":"${'x'.repeat(12_000_000)}"}]`, 'x.json'),
    /x\.json: an entry of more than 10,000 characters, the limit for an entry/,
  ],
  'a JSON file of brackets': [
    'UA',
    () => tFileOf('['.repeat(12_000_000), 'x.json'),
    /x\.json: an entry of more than 10,000 characters, the limit for an entry/,
  ],
  'an XML file of many tags': [
    'LT',
    () => tFileOf('<participant><branch>'.repeat(600_000), 'x.xml'),
    /x\.xml ends within an entry; download it again/,
  ],
  'an XML file of one text': [
    'LT',
    () => tFileOf(`<participant>${'x'.repeat(12_000_000)}`, 'x.xml'),
    /x\.xml: an entry of more than 10,000 characters, the limit for an entry/,
  ],
  'an archive that unpacks to 40 MB': [
    'NO',
    () => tWorkbook('<row/>'.repeat(6_600_000)),
    /x\.xlsx has more than 16 MB of XML, the limit for a workbook/,
  ],
  'an archive that declares another size': [
    'NO',
    () => tWorkbook('<row/>'.repeat(6_600_000), {}, { declaredBytes: 100 }),
    /x\.xlsx has more than 16 MB of XML, the limit for a workbook/,
  ],
  'a workbook with a cell of 15 MB': [
    'NO',
    () => tWorkbook(tRow(1, 'x'.repeat(15_000_000))),
    /is damaged: xl\/worksheets\/sheet1\.xml has a text or tag of more than 400,000 characters/,
  ],
  'a workbook with a shared text of 15 MB': [
    'NO',
    () => tWorkbook(bank, shared(`<si><t>${'x'.repeat(15_000_000)}</t></si>`)),
    /is damaged: xl\/sharedstrings\.xml has a text or tag of more than 400,000 characters/,
  ],
  'a workbook of many rows': [
    'NO',
    () => tWorkbook(cells(50_001)),
    /x\.xlsx, sheet "Banks", row 50,001: more than 50,000 rows, the limit for a sheet/,
  ],
  'a workbook of many tags': [
    'NO',
    () => tWorkbook('<a>'.repeat(2_100_000)),
    /is damaged: xl\/worksheets\/sheet1\.xml has more than 100 tags in one another/,
  ],
  'a workbook with a row far below': [
    'NO',
    () => tWorkbook(`${bank}<x:row r='100000000'><x:c r='A100000000'><v>1</v></x:c></x:row>`),
    /x\.xlsx, sheet "Banks", row 100,000,000: more than 50,000 rows, the limit/,
  ],
  'a workbook with a column far to the right': [
    'NO',
    () => tWorkbook('<row r="1"><c r="ZZZ1"><v>1</v></c></row>'),
    /x\.xlsx, sheet "Banks", row 1: more than 1,000 columns, the limit/,
  ],
};

/* Its time would grow with the square of its size if each brace or bracket were tried as the start of an entry. */
describe('a hostile file is rejected before the test times out', () => {
  it.each([
    ['XML without tags', 'LT', 'x.xml', `<list>${`${'a'.repeat(9_000)}>`.repeat(600)}`],
    ['XML with tags that do not end', 'LT', 'x.xml', `<list>${'<a'.repeat(1_000_000)}`],
    ['XML with open sections', 'LT', 'x.xml', `<list>${'<![CDATA[>'.repeat(200_000)}`],
    ['XML with many names', 'LT', 'x.xml', `<list>${`<${'a'.repeat(9_000)} >`.repeat(600)}`],
    ['JSON with an open text', 'UA', 'x.json', `[${'{"\\"'.repeat(500_000)}`],
    ['JSON with open texts in lines', 'UA', 'x.json', `[${`${'{"\\"{\\"'.repeat(1_000)}\n`.repeat(250)}`],
    ['JSON with braces that do not end', 'UA', 'x.json', `[${'{'.repeat(2_000_000)}`],
  ])('%s', async (_, country, name, text) => {
    expect(await rejection(country, tFileOf(text, name))).toContain(name);
  });
});

/* Resident memory, which only Linux reports. */
describe.skipIf(!existsSync('/proc/self/status'))('a large file is rejected with 300 MiB of memory', () => {
  it.each(Object.entries(large))('%s', async (_, [country, createFile, expected]) => {
    const { message, peakMb } = await tMeasuredImport(country, createFile());
    expect(message).toMatch(expected);
    expect(message).toMatch(/^Nothing was imported: .*\.\n$/);
    expect(peakMb).toBeGreaterThan(20);
    expect(peakMb).toBeLessThan(300);
  });

  it('before it is read, if it has more than 32 MB', async () => {
    const path = tFileOf('');
    truncateSync(path, 100_000_000);
    const { message, peakMb } = await tMeasuredImport('NO', path);
    expect(message).toContain(`${path} has more than 32 MB, the limit for a bank file`);
    expect(peakMb).toBeLessThan(300);
  });

  it('while it is read from a pipe', async () => {
    const path = join(tFolder(), 'pipe.xlsx');
    execFileSync('mkfifo', [path]);
    const measured = tMeasuredImport('NO', path);
    const stream = createWriteStream(path).on('error', () => {});
    stream.end(tArchive(tWorkbookFiles(' '.repeat(33_000_000)), { method: 0 }));
    const { message, peakMb } = await measured;
    expect(message).toContain(`${path} has more than 32 MB, the limit for a bank file`);
    expect(peakMb).toBeLessThan(300);
  });
});

describe('a workbook', () => {
  it.skipIf(!existsSync('/proc/self/status'))('of the largest size is read with 300 MiB of memory', async () => {
    const rows = Array.from({ length: 50_000 }, (_, index) => tRow(index + 1, '123', 'DNBANOKK', `Ж${index}`));
    const { message, peakMb } = await tMeasuredImport('NO', tWorkbook(rows.join('')));
    expect(message).toContain('the bank code is "123"; it must be 4 digits');
    expect(peakMb).toBeLessThan(300);
  });

  it('may be formatted up to the last cell of a sheet, have comments, a chart and parts that are not read', async () => {
    const format = '<row r="2" ht="15"><c r="XFD2" s="1"/></row><row r="1048576" ht="15"/>';
    const sheets = '<sheet name="Chart" r:id="rId9"/><sheet name="Banks" r:id="rId1"/>';
    const path = tWorkbook(`<!-- banks -->${bank}${format}`, {
      'xl/workbook.xml': `<workbook xmlns:r="urn:x"><sheets>${sheets}</sheets></workbook>`,
      'docProps/custom.xml': '<![CDATA[<]]>',
      'xl/empty.xml': '',
    });
    const { entries } = await readBankFile({ country: 'NO', path });
    expect(entries).toEqual([{ bankCode: '0530', bic: 'DNBANOKK', name: 'DNB', zip: '', city: '' }]);
  });

  it.each([
    ['stored', { method: 0 }],
    ['deflated', { method: 8 }],
  ])('may be %s', async (_, options) => {
    const { entries } = await readBankFile({ country: 'NO', path: tWorkbook(bank, {}, options) });
    expect(entries).toHaveLength(1);
  });

  it.each([
    ['with a password', { flags: 1 }, 'x.xlsx has a password; save it as XLSX without a password'],
    ['of another method', { method: 12 }, 'or is damaged: xl/workbook.xml cannot be read; download the file again'],
    ['with a wrong checksum', { checksum: 1 }, 'or is damaged: xl/workbook.xml has a wrong checksum'],
  ])('is rejected: %s', async (_, options, expected) => {
    expect(await rejection('NO', tWorkbook(bank, {}, options))).toContain(expected);
  });

  it('is rejected with a message if it is cut off at any place', async () => {
    const bytes = tArchive(tWorkbookFiles(bank));
    for (let length = 2; length < bytes.length - 2; length += 7) {
      const message = await rejection('NO', tFileOf(bytes.subarray(0, length)));
      expect(message).toMatch(
        /^x\.xlsx is not an XLSX workbook, or is damaged: .* cannot be read; download the file again$/,
      );
    }
  });

  it.each([
    ['a cell far to the right', '<row r="1"><c r="ZZZZZZ1"><v>1</v></c></row>', {}, 'row 1 has a cell ZZZZZZ1'],
    ['an invalid reference', '<row r="1x"><c r="A1"><v>1</v></c></row>', {}, 'a row 1x follows row 0'],
    ['an open tag', '<row r="1"><c r="A1"', {}, 'xl/worksheets/sheet1.xml is not well-formed'],
    ['no list of sheets', bank, { 'xl/workbook.xml': '' }, 'xl/workbook.xml is not well-formed'],
    ['a document type', bank, { 'xl/workbook.xml': '<!DOCTYPE x><workbook/>' }, 'xl/workbook.xml has a document type'],
    ['a missing text', '<row r="1"><c r="A1" t="s"><v>7</v></c></row>', {}, 'row 1 has a cell whose text is missing'],
  ])('is rejected: with %s', async (_, rows, more, problem) => {
    const message = await rejection('NO', tWorkbook(rows, more));
    expect(message).toContain(`x.xlsx is not an XLSX workbook, or is damaged: ${problem}`);
  });

  it.each([
    [
      'sheets',
      bank,
      { 'xl/workbook.xml': `<sheets>${'<sheet name="a"/>'.repeat(1_001)}</sheets>` },
      /more than 1,000 sheets, the limit/,
    ],
    ['texts', tRow(1, 'x'.repeat(32_768)), {}, /sheet "Banks", row 1: a text of more than 32,767 characters/],
    [
      'uses of one text',
      cells(1_100, '<c r="D$" t="s"><v>0</v></c>'),
      shared(`<si><t>${'x'.repeat(32_000)}</t></si>`),
      /row 1,000: more than 32 million characters, the limit for a sheet/,
    ],
  ])('is rejected for too many or too long %s', async (_, rows, more, expected) => {
    expect(await rejection('NO', tWorkbook(rows, more))).toMatch(expected);
  });
});

describe('control characters', () => {
  /** As Excel writes those that XML does not have. */
  const escapeXml = (text: string) =>
    text.replace(/\p{Cc}/gu, (character) => `_x${character.charCodeAt(0).toString(16).padStart(4, '0')}_`);
  const invisible = '\0\u0007\u001b\u007f\u0085\u009b\u200b\u200e\u2028\u2029\u202e\u2066\ufeff';

  it.each([
    ['a text file', 'CH', () => tSample('CH').encode([...tSample('CH').top, ...tSample('CH').rows].map(dirty))],
    [
      'a workbook',
      'NO',
      async () => tArchive(tWorkbookFiles(tRow(1, '0530', 'DNBANOKK', escapeXml(`D${invisible}NB`)))),
    ],
  ])('in %s never reach a record', async (_, country, encode) => {
    const { entries } = await readBankFile({ country, path: tFileOf(await encode()) });
    expect(entries.length).toBeGreaterThan(0);
    expect(JSON.stringify(entries)).not.toMatch(/\\u|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(entries[0]?.name).toMatch(/^(U BS Switzerland AG|D NB)$/);
  });

  function dirty(cells: readonly (string | number)[], index: number) {
    return index === 0 ? cells : cells.map((cell) => String(cell).replace('UBS S', `U${invisible}BS S`));
  }

  it('never reach a message', async () => {
    const rows = `${bank}${tRow(2, escapeXml('1\u001b[31m\u202e2'), 'DNBANOKK', 'DNB')}`;
    const sheet = '<workbook><sheet name="Ba\u0085nks" r:id="rId1"/></workbook>';
    const { faults } = await readBankFile({ country: 'NO', path: tWorkbook(rows, { 'xl/workbook.xml': sheet }) });
    const problem = 'the bank code is "1 [31m2"; it must be 4 digits';
    expect(faults.first).toEqual([`sheet "Ba nks", row 2, left out: ${problem}`]);
  });
});

describe('a field', () => {
  it('of more than 500 characters leaves its row out', async () => {
    const path = tWorkbook(`${bank}${tRow(2, '0531', 'DNBANOKK', 'x'.repeat(501))}`);
    const { entries, faults } = await readBankFile({ country: 'NO', path });
    expect(entries).toHaveLength(1);
    const problem = 'the name has more than 500 characters, the limit for a field';
    expect(faults.first).toEqual([`sheet "Banks", row 2, left out: ${problem}`]);
  });
});

describe('a text file', () => {
  it('may have lines that end with \\r, also where a chunk ends', async () => {
    const bytes = await german.encode([...german.top, ...Array.from({ length: 2_000 }, () => germanRow)]);
    const text = bytes.toString('latin1').replaceAll('\r\n', '\r');
    for (const pad of [0, 1, 2]) {
      const path = tFileOf(Buffer.from(`${'\r'.repeat(pad)}${text}`, 'latin1'), 'x.csv');
      expect((await readBankFile({ country: 'DE', path })).rows).toBe(2_000);
    }
  });

  it('of fixed width may have 150,000 lines', async () => {
    const line = (await fixedWidth.encode([germanRow])).toString('latin1');
    const path = tFileOf(Buffer.from(line.repeat(150_000), 'latin1'), 'x.txt');
    expect((await readBankFile({ country: 'DE', path })).rows).toBe(150_000);
  });
});

describe('wrong rows', () => {
  const read = async (good: number, wrong: number) => {
    const rows = Array.from({ length: good + wrong }, (_, index) =>
      tRow(index + 1, index < good ? '0530' : 'x1', 'DNBANOKK', 'DNB'),
    );
    return readBankFile({ country: 'NO', path: tWorkbook(rows.join('')) });
  };

  it.each([
    [1, 1],
    [98, 1],
    [198, 2],
    [1_980, 20],
  ])('are counted, and the first ten listed, if %i are right and %i wrong', async (good, wrong) => {
    const { faults, rows } = await read(good, wrong);
    expect([rows, faults.count, faults.leftOut, faults.first.length]).toEqual([
      good + wrong,
      wrong,
      wrong,
      Math.min(wrong, 10),
    ]);
  });

  it.each([
    [97, 2],
    [198, 3],
    [1_980, 21],
  ])('refuse the file if %i are right and %i wrong', async (good, wrong) => {
    await expect(read(good, wrong)).rejects.toThrow(
      `x.xlsx has errors in ${wrong} of ${(good + wrong).toLocaleString('en')} rows, more than one in a hundred: sheet "Banks", row ${good + 1}, left out: the bank code is "x1"; it must be 4 digits; `,
    );
  });

  it.each([
    [150, 2],
    [250, 3],
  ])('refuse a file of several countries if %i rows of the country are right and %i wrong', async (good, wrong) => {
    const { top, rows, encode } = tSample('DK');
    const right = Array.from({ length: good }, (_, index) => ['FO', 6000 + index, '', 'FIFBFOTX', 'Faroe Bank']);
    const bad = Array.from({ length: wrong }, () => ['FO', 'x1', '', 'FIFBFOTX', 'Faroe Bank']);
    const others = Array.from({ length: 1_000 }, () => rows[0] ?? []);
    const path = tFileOf(await encode([...top, ...others, ...right, ...bad]));
    await expect(readBankFile({ country: 'FO', path })).rejects.toThrow(
      `x.xlsx has errors in ${wrong} of ${good + wrong} rows, more than one in a hundred: `,
    );
  });

  it('refuse the file if there is no other', async () => {
    const path = tWorkbook(tRow(1, '0530', 'DNBANO', 'DNB'));
    expect(await rejection('NO', path)).toMatch(/^x\.xlsx has errors in 1 of 1 rows, .*row 1, imported without it/);
  });
});

it('a file that cannot be read is rejected with the reason', async () => {
  expect(await rejection('DE', 'x'.repeat(300))).toMatch(
    /cannot be read \(ENAMETOOLONG\); expected the downloaded file$/,
  );
});
