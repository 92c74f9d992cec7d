import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readBankFile } from '../../src/banks/import/files/read-bank-file.ts';
import type { MeasuredImport } from '../support/banks/import/child-process.ts';
import {
  fixedWidth,
  repeatRow,
  sharedTexts,
  tArchive,
  tFileOf,
  tRow,
  tWorkbook,
  tWorkbookFiles,
} from '../support/banks/import/sample.ts';
import { tSample } from '../support/banks/import/samples.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { bundleScript, tShared } from '../support/process.ts';

// cspell:ignore sharedstrings

/* What an import of files of many megabytes uses; test/banks/import/import-limits.test.ts has the other limits. */

const bank = tRow(1, '0530', 'DNBANOKK', 'DNB');
const german = tSample('DE');
const [germanHeader = [], germanRow = []] = [...german.top, ...german.rows];

/** A process that imports files and measures its memory. */
const importer = tShared(async (onFinished) => {
  const child = fork(bundleScript('test/support/banks/import/child-process.ts'), {
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
    () => tWorkbook(bank, sharedTexts(`<si><t>${'x'.repeat(15_000_000)}</t></si>`)),
    /is damaged: xl\/sharedstrings\.xml has a text or tag of more than 400,000 characters/,
  ],
  'a workbook of many rows': [
    'NO',
    () => tWorkbook(repeatRow(50_001)),
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

it('a file of fixed width may have 150,000 lines', async () => {
  const line = (await fixedWidth.encode([germanRow])).toString('latin1');
  const path = tFileOf(Buffer.from(line.repeat(150_000), 'latin1'), 'x.txt');
  expect((await readBankFile({ country: 'DE', path })).rows).toBe(150_000);
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

  it('while it is read, if it is a workbook of the largest size', async () => {
    const rows = Array.from({ length: 50_000 }, (_, index) => tRow(index + 1, '123', 'DNBANOKK', `Ж${index}`));
    const { message, peakMb } = await tMeasuredImport('NO', tWorkbook(rows.join('')));
    expect(message).toContain('the bank code is "123"; it must be 4 digits');
    expect(peakMb).toBeLessThan(300);
  });
});
