import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import writeWorkbook from 'write-excel-file/node';
import { fromBufferPromise } from 'yauzl';
import { tArchive } from '../support/banks/import/sample.ts';
import { serviceAt, tCheck } from '../support/check/check.ts';
import { replyWithIban, tUpstream } from '../support/scripted-upstream.ts';

// cspell:disable

/* Tables in the layouts of programs: each row is accounted for, and the exit code is 0 only if nothing is left to look at. */

const right = 'DE89370400440532013000';
const wrong = 'DE89370400440532013001';
const dutch = 'NL91ABNA0417164300';
const french = 'FR1420041010050500013M02606';
const own = 'DE75512108001245126199';

/** Status by row; of several columns, joined by a slash. Rows without a result are left out. */
async function check(content: string | Buffer, args: readonly string[] = [], name?: string) {
  const { run } = tCheck(content, name);
  const { code, stdout, stderr } = await run(['--format', 'json', ...args]);
  const lines = stdout.split('\n').filter(Boolean);
  const rows = lines.map((line) => JSON.parse(line));
  const statuses = Object.fromEntries(
    rows.map(({ sheet, row, status, others = [] }) => [
      sheet === undefined ? row : `${sheet} ${row}`,
      [status, ...others.map((other: { status: string }) => other.status)].join('/'),
    ]),
  );
  expect(stderr).not.toMatch(/(?:DE|NL|FR|AT)\d{2}[A-Z0-9]{10}/);
  return { code, statuses, rows, summary: stderr, problems: rows.flatMap(({ problems }) => problems) };
}

const table = (...lines: string[]) => `${lines.join('\n')}\n`;

describe('the layout of', () => {
  const wise = Array.from({ length: 20 }, (_, n) => `${own},P${n},${n % 2 === 0 ? dutch : `123456${n}`},${n}`);
  it.each<[name: string, content: string, expected: Record<string, string>, code: number, summary: string]>([
    [
      'DATEV, with a head above the titles, and columns that are numbered',
      table(
        '"EXTF";700;16;"Debitoren/Kreditoren";5;20261126093000000;;"RE"',
        '"Konto";"Name";"IBAN-Nr. 1";"SWIFT-Code 1";"IBAN-Nr. 2";"SWIFT-Code 2"',
        `"70001";"Müller & Söhne";"${right}";"COBADEFFXXX";"";""`,
        `"70002";"Ö-Bau AG";"${right}";"";"${wrong}";"COBADEFFXXX"`,
        '"70004";"ohne Bank";"";"";"";""',
      ),
      { 3: 'VALID/EMPTY', 4: 'VALID/INVALID', 5: 'EMPTY/EMPTY' },
      1,
      '5 rows read, 3 checked, IBANs in "IBAN-Nr. 1", "IBAN-Nr. 2", BICs in "SWIFT-Code 1", "SWIFT-Code 2"',
    ],
    [
      'Excel in Germany, with its delimiter',
      table('sep=;', 'Lieferant;IBAN;Betrag;PLZ', `Müller;${right};1.234,56;01067`, `Meier;${wrong};-5,00;00001`),
      { 3: 'VALID', 4: 'INVALID' },
      1,
      '4 rows read, 2 checked, IBANs in "IBAN", names in "Lieferant"',
    ],
    [
      'Wise, with the account of the payer in each row',
      table('Pay from,Payee,Payee account,Amount', ...wise),
      Object.fromEntries(wise.map((_, n) => [n + 2, n % 2 === 0 ? 'VALID/VALID' : 'INVALID/VALID'])),
      1,
      `"Pay from"\n            1  valid\n           19  the payer's account of the row before`,
    ],
    [
      'Personio, with payer and payee',
      table(
        'Personalnummer;Vorname;Auftraggeber IBAN;Empfänger IBAN;BIC;Nettobetrag',
        `1;A;${own};${right};;1,00`,
        `2;B;${own};${dutch};;1,00`,
        `3;C;${own};${wrong};;1,00`,
      ),
      { 2: 'VALID/VALID', 3: 'VALID/VALID', 4: 'INVALID/VALID' },
      1,
      'IBANs in "Empfänger IBAN", "Auftraggeber IBAN"',
    ],
    [
      'Revolut, with account numbers that are not IBANs',
      table(
        'Name,Account number,Sort code,IBAN / account,BIC',
        `Anna,,,${right},COBADEFFXXX`,
        'John,28821822,231470,28821822,',
      ),
      { 2: 'VALID', 3: 'INVALID' },
      1,
      'IBANs in "IBAN / account"',
    ],
    [
      'SAP, with lines and a total',
      table(
        '26.11.2026          Dynamische Listenausgabe        1',
        '-----------------------------------------------------',
        '|  Kreditor|Name 1     |IBAN                  |SWIFT|',
        '-----------------------------------------------------',
        `|    100001|Müller GmbH|${right}|COBADEFFXXX|`,
        `|    100003|Fehler KG  |${wrong}|     |`,
        '-----------------------------------------------------',
        '|*         |           |                      |1.323|',
      ),
      { 5: 'VALID', 6: 'INVALID' },
      1,
      'IBANs in "IBAN", BICs in "SWIFT", names in "Name 1"\n  read as windows-1252; --encoding names another encoding\n  other rows: 2 above the titles, 1 with the titles, 3 with totals or lines',
    ],
    [
      'a bank, with the own account above the titles, and totals',
      table(
        'Zahlungslauf 26.11.2026;;;',
        `Auftraggeber;IBAN ${own};;`,
        `Konto:;${own};;`,
        ';;;',
        'Name;IBAN;Betrag;Text',
        `Anna;${right};1,00;a`,
        `Bob;${dutch};2,00;b`,
        ';;;',
        'Summe;;3,00;',
        'Anzahl;2;;',
      ),
      { 2: 'VALID', 3: 'VALID', 6: 'VALID', 7: 'VALID' },
      0,
      'other rows: 3 above the titles, 1 with the titles, 2 blank, 2 with totals or lines',
    ],
    [
      'titles in two rows',
      table('Payee,Bank,,Amount', ',IBAN,BIC,EUR', `Anna,${right},COBADEFFXXX,5`, `Bob,${wrong},,6`),
      { 3: 'VALID', 4: 'INVALID' },
      1,
      'IBANs in "IBAN", BICs in "BIC", names in "Payee"',
    ],
    [
      'a second column with a few IBANs',
      table('Vendor,IBAN,Second IBAN', `A,${right},${wrong}`, `B,${dutch},`, `C,${french},`, `D,${dutch},${wrong}`),
      { 2: 'VALID/INVALID', 3: 'VALID/EMPTY', 4: 'VALID/EMPTY', 5: 'VALID/INVALID' },
      1,
      'IBANs in "IBAN", "Second IBAN"',
    ],
    [
      'titles of several words in one',
      table('creditor_name,creditor-iban,SWIFT_BIC', `Anna,${right},COBADEFFXXX`),
      { 2: 'VALID' },
      0,
      'IBANs in "creditor-iban", BICs in "SWIFT_BIC", names in "creditor_name"',
    ],
    [
      'cells with labels',
      table(
        'Payee,Account',
        `Anna,IBAN ${right}`,
        `Bob,IBAN: ${dutch} BIC: ABNANL2A`,
        `Cara,${right} COBADEFFXXX`,
        `Dora,IBAN ${wrong}`,
      ),
      { 2: 'VALID', 3: 'VALID', 4: 'VALID', 5: 'INVALID' },
      1,
      'WRONG_CHECK_DIGITS (error): row 5',
    ],
  ])('%s', async (_, content, expected, code, summary) => {
    const result = await check(iconv.encode(content, 'windows-1252'));
    expect(result.statuses).toEqual(expected);
    expect(result.summary).toContain(summary);
    expect(result.code).toBe(code);
  });
});

describe('values as programs write them', () => {
  it.each([
    ['a formula of a text', `="${right}"`, 'VALID'],
    ['an apostrophe', `'${right}`, 'VALID'],
    ['a field of a fixed length', `${right}\0\0\0`, 'VALID'],
    ['digits that a spreadsheet has shortened', '3,70400440532E+17', 'INVALID'],
  ])('%s', async (_, value, status) => {
    const { statuses, summary } = await check(`Name;IBAN\nBob;${dutch}\nAnna;${value}\n\x1a`);
    expect(statuses).toEqual({ 2: 'VALID', 3: status });
    expect(summary.includes('NUMBER_SHORTENED')).toBe(status === 'INVALID');
  });
});

describe('what may hold IBANs and is not checked is a finding', () => {
  it('in a column that has few of them', async () => {
    const rows = Array.from({ length: 10 }, (_, n) => `P${n},${right},${n === 7 ? dutch : 'Invoice'}`);
    const { code, statuses, problems, summary } = await check(table('Name,IBAN,Text', ...rows));
    expect(Object.values(statuses)).toEqual(Array(10).fill('VALID'));
    expect([code, problems]).toEqual([1, ['IBAN_NOT_CHECKED']]);
    expect(summary).toContain('IBAN_NOT_CHECKED (warning): row 9');
  });

  it('but not if a column was named', async () => {
    const { code, summary } = await check(table('Name,IBAN,Second IBAN', `A,${right},${wrong}`), ['--column', 'IBAN']);
    expect(code).toBe(0);
    expect(summary).toContain('not checked: the IBANs in "Second IBAN", as --column names another column');
  });
});

/** All parts of a workbook, one of its sheets hidden. */
async function hideSheet(workbook: Buffer, name: string): Promise<Buffer> {
  const parts: Record<string, string> = {};
  const zip = await fromBufferPromise(workbook);
  for await (const entry of zip.eachEntry()) {
    const content = await text(await zip.openReadStreamPromise(entry));
    parts[entry.fileName] = content.replace(new RegExp(`<sheet (?=[^>]*name="${name}")`), '<sheet state="hidden" ');
  }
  return tArchive(parts);
}

describe('a workbook', () => {
  const sheets = [
    { sheet: 'Notes', data: [['Nothing here']] },
    {
      sheet: 'Jan',
      data: [
        ['Name', 'IBAN'],
        ['Anna', right],
      ],
    },
    {
      sheet: 'Feb',
      data: [
        ['Name', 'IBAN'],
        ['Bob', wrong],
      ],
    },
  ];

  it('has all of its sheets checked that have IBANs, and the others named', async () => {
    const { code, statuses, summary } = await check(await writeWorkbook(sheets).toBuffer(), [], 'x.xlsx');
    expect(statuses).toEqual({ 'Jan 2': 'VALID', 'Feb 2': 'INVALID' });
    expect(code).toBe(1);
    expect(summary).toMatch(/sheet "Notes": 1 row read, 0 checked\n {2}not checked: no column has IBANs/);
  });

  it('has only the sheet checked that is named', async () => {
    const workbook = await writeWorkbook(sheets).toBuffer();
    const { code, statuses, summary } = await check(workbook, ['--sheet', 'jan'], 'x.xlsx');
    expect([code, statuses]).toEqual([0, { 2: 'VALID' }]);
    expect(summary).toContain('sheet "Feb": not checked, as --sheet names another sheet');
    const missing = await check(workbook, ['--sheet', 'March'], 'x.xlsx');
    expect(missing.code).toBe(2);
    expect(missing.summary).toContain('has no sheet "March": its sheets are Notes, Jan, Feb');
  });

  it('has no hidden sheet checked by accident, but its IBANs are findings', async () => {
    const workbook = await hideSheet(await writeWorkbook(sheets).toBuffer(), 'Feb');
    const { code, statuses, summary } = await check(workbook, [], 'x.xlsx');
    expect([code, statuses]).toEqual([1, { 2: 'VALID' }]);
    expect(summary).toMatch(
      /sheet "Feb": 2 rows read, 0 checked\n {2}not checked: the sheet is hidden; --sheet names it/,
    );
    expect(summary).toContain('IBAN_NOT_CHECKED (warning): row 2');
    expect((await check(workbook, ['--sheet', 'Feb'], 'x.xlsx')).statuses).toEqual({ 2: 'INVALID' });
  });

  it('has the rows of each sheet below its name in CSV, and each sheet in a workbook', async () => {
    const { run, path, read } = tCheck(await writeWorkbook(sheets).toBuffer(), 'x.xlsx');
    await run(['--output', path('out.csv')]);
    const names = read('out.csv')
      .split('\n')
      .map((line) => line.split(',')[0]?.replace('\uFEFF', ''));
    expect(names).toEqual(['Jan', 'Name', 'Anna', 'Feb', 'Name', 'Bob', '']);
    expect((await run(['--output', path('out.xlsx')])).code).toBe(1);
    const again = await tCheck(readFileSync(path('out.xlsx')), 'y.xlsx').run(['--dry-run']);
    expect(again.stdout).toContain('sheet "Jan": 2 rows read, 1 checked, IBANs in "IBAN"');
    expect(again.stdout).toContain('sheet "Feb": 2 rows read, 1 checked, IBANs in "IBAN"');
  });
});

describe('the second run', () => {
  it('of a corrected file is a new run, whatever the first one has left, and --resume uses what that has paid for', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { run, file, path } = tCheck(table('Name,IBAN', `Anna,${right}`, `Bob,${dutch}`, `Cara,${wrong}`));
    const env = { ...serviceAt(upstream.url), UPSTREAM_CONCURRENCY: '1' };
    const args = ['--output', path('out.csv')];
    expect((await run([...args, '--max-calls', '1'], env)).stderr).toContain('the answers are kept in');
    const overwriting = [...args, '--overwrite'];
    expect((await run(overwriting, env)).code).toBe(2);

    const correct = (iban: string) => writeFileSync(file, table('Name,IBAN', `Anna,${right}`, `Cara,${iban}`));
    correct(french);
    const resumed = await run([...args, '--max-calls', '0', '--resume'], env);
    expect([resumed.code, resumed.stderr]).toEqual([
      2,
      expect.stringContaining('0 calls, 1 answer of the earlier run'),
    ]);
    expect((await run(overwriting, env)).code).toBe(2);

    correct(dutch);
    const again = await run(overwriting, env);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('2 calls')]);
    expect(existsSync(path('out.csv.journal'))).toBe(false);
  });

  it('of a result replaces the columns that the first one has added', async () => {
    const first = tCheck(table('Name,IBAN', `Anna,${wrong}`, `Bob,${dutch}`));
    const { stdout } = await first.run();
    const corrected = stdout.replace(wrong, right);
    const second = await tCheck(corrected).run();
    expect(second.code).toBe(0);
    expect(second.stdout.split('\n').map((line) => line.split(',').slice(0, 4).join(','))).toEqual([
      'Name,IBAN,status,problems',
      `Anna,${right},VALID,`,
      `Bob,${dutch},VALID,`,
      '',
    ]);
    expect(second.stdout.split('\n')[0]).toBe(stdout.split('\n')[0]);
  });
});

describe('letters beyond ASCII', () => {
  it.each([
    ['Polish, of Windows', 'windows-1250', 'Łukasz Żółć'],
    ['Czech, of Windows', 'windows-1250', 'Antonín Dvořák'],
    ['Cyrillic, of Windows', 'windows-1251', 'Иван Вазов'],
    ['German, of Windows', 'windows-1252', 'Müller & Söhne'],
    ['French, of Windows', 'windows-1252', 'Léa Cœur'],
    ['Norwegian, of Windows', 'windows-1252', 'Bjørn Sæther'],
  ])('%s, are recognized', async (_, encoding, name) => {
    const { rows, summary } = await check(iconv.encode(`Name;IBAN\n${name};${right}\n`, encoding));
    expect(rows[0].name).toBe(name);
    expect(summary).toContain(`read as ${encoding}; --encoding names another encoding`);
  });

  it('are in the encoding that is named', async () => {
    const content = iconv.encode(`Name;IBAN\nMüller;${right}\n`, 'cp850');
    expect((await check(content, ['--encoding', 'CP850'])).rows[0].name).toBe('Müller');
    const unknown = await check(content, ['--encoding', 'latin']);
    expect([unknown.code, unknown.summary]).toEqual([2, expect.stringContaining('--encoding must be one of utf-8,')]);
  });
});
