import { describe, expect, it } from 'vitest';
import { ImportError } from '../../../src/banks/import/files/bank-file.ts';
import { readBankFile } from '../../../src/banks/import/files/read-bank-file.ts';
import {
  repeatRow,
  sharedTexts,
  tArchive,
  tFileOf,
  tRow,
  tWorkbook,
  tWorkbookFiles,
} from '../../support/banks/import/sample.ts';
import { tSample } from '../../support/banks/import/samples.ts';

/* What a bank file may have; test/long/import-memory.test.ts measures the memory that files of many megabytes use. */

const bank = tRow(1, '0530', 'DNBANOKK', 'DNB');
const german = tSample('DE');
const [germanRow = []] = german.rows;

async function rejection(country: string, path: string): Promise<string> {
  const error: unknown = await readBankFile({ country, path }).catch((caught) => caught);
  expect(error).toBeInstanceOf(ImportError);
  return error instanceof Error ? error.message : '';
}

describe('a file is rejected that has', () => {
  const tooLong = 'x'.repeat(10_001);
  const farBelow = '<row r="100000000"><c r="A100000000"><v>1</v></c></row>';
  it.each<[name: string, country: string, path: () => string, expected: string]>([
    ['a long line', 'DE', () => tFileOf(tooLong, 'x.csv'), 'line 1: more than 10,000 characters'],
    ['a long line in UTF-16', 'DE', () => tFileOf(Buffer.from(`\ufeff${tooLong}`, 'utf16le'), 'x.csv'), 'line 1: more'],
    ['a long line of fixed width', 'DE', () => tFileOf(tooLong, 'x.txt'), 'line 1: more than 10,000 characters'],
    ['a long entry of JSON', 'UA', () => tFileOf(`[{"MFO":"${tooLong}"}]`, 'x.json'), 'an entry of more than 10,000'],
    ['a long entry of XML', 'LT', () => tFileOf(`<participant>${tooLong}`, 'x.xml'), 'an entry of more than 10,000'],
    ['a row far below', 'NO', () => tWorkbook(bank + farBelow), 'row 100,000,000: more than 50,000 rows'],
    [
      'a column far to the right',
      'NO',
      () => tWorkbook('<row r="1"><c r="ZZZ1"><v>1</v></c></row>'),
      'more than 1,000 columns',
    ],
    ['tags in one another', 'NO', () => tWorkbook('<a>'.repeat(101)), 'has more than 100 tags in one another'],
    ['a long text', 'NO', () => tWorkbook(tRow(1, 'x'.repeat(400_001))), 'a text or tag of more than 400,000'],
    ['a large sheet', 'NO', () => tWorkbook('<row/>'.repeat(2_800_000)), 'has more than 16 MB of XML'],
  ])('%s', async (_, country, path, expected) => {
    expect(await rejection(country, path())).toContain(expected);
  });
});

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

describe('a workbook', () => {
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
      repeatRow(1_100, '<c r="D$" t="s"><v>0</v></c>'),
      sharedTexts(`<si><t>${'x'.repeat(32_000)}</t></si>`),
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
