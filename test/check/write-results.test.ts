// cspell:ignore Betrag Kontonummer
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { replay } from '../../src/base/input-file.ts';
import { type CheckedRow, checkTables } from '../../src/check/check-tables.ts';
import { createFinding } from '../../src/check/finding.ts';
import type { CellResult } from '../../src/check/judge-row.ts';
import { openPaymentStream } from '../../src/check/open-file.ts';
import { readTables } from '../../src/check/read-rows.ts';
import { describeTally, summarizeMessage, Tally } from '../../src/check/tally.ts';
import { createFindingWriter, createRowWriter } from '../../src/check/write-results.ts';
import { noColumns, writeCell } from '../support/check/check.ts';
import { rightMessage, tCheck } from '../support/check/pain-messages.ts';

it.each([
  ...['=1+1', '+cmd|x', '-2+3|cmd', '@SUM(A1)', '=', "-1'=A1()"],
  // Full-width and small signs, which programs with an East Asian input method accept.
  ...['＝1+1', '＋1', '－1', '＠SUM(A1)', '﹦1', '﹢1', '﹣1', '﹫A'],
  // Characters that programs leave out before they read a cell.
  ...['\t=1', '\r=1', '\n=1', '\r\n=1', '\v=1', '\f=1', '\0=1', '\u0085=1', '\u2028=1', '\u2029=1'],
  ...['\tx', '\rx', '\nx', ' =1', '\u00a0=1', '\u3000＝1', '\ufeff=1', '\u200b=1', '\u202e=1', ' \n=1'],
])('puts an apostrophe before %j', (text) => {
  expect(writeCell(text)).toBe(`'${text}`);
});

it.each([
  '',
  ' ',
  ' x',
  'x\n=1',
  '１',
  ' -12.50',
  '-12.50',
  '+12,50',
  '-1.234,56',
  "-1'000.00",
  '+49 170 1234567',
  '-5 %',
  '1=1',
  'a@example.com',
  "'=1",
])('leaves %j as it is', (text) => {
  expect(writeCell(text)).toBe(text);
});

it.each([
  ['digits', `-${'1'.repeat(100_000)}x`],
  ['spaces', `${' '.repeat(100_000)}=`],
  ['points', `-${'. '.repeat(50_000)}x`],
])('takes no more steps for long texts of %s than for others', (_, text) => {
  const before = process.cpuUsage();
  expect(writeCell(text)).toBe(`'${text}`);
  const { user, system } = process.cpuUsage(before);
  // With a step for each pair of characters, it would be several seconds.
  expect((user + system) / 1_000).toBeLessThan(500);
});

describe('a row that is shorter than the titles', () => {
  const titles = Array.from({ length: 1_000 }, (_, column) => `t${column}`);
  const ibans = [{ column: 0, party: null, bic: null, isText: false }];
  const columns = { ...noColumns, ibans, titleRow: 1, titles };
  const style = { delimiter: ';', lineEnd: '\n', hasByteOrderMark: false, encoding: 'utf-8' } as const;
  const nothing = { bic: '', bicMatch: '', nationalCheck: '', iban: '', findings: [], suggestions: [] } as const;
  const cell: CellResult = { column: 0, isRepeated: false, status: 'EMPTY', bank: '=A;B', ...nothing };
  const result = { cells: [cell], findings: [] };
  const rows: CheckedRow[] = [
    { row: 1, cells: titles, kind: 'titles', result: null },
    { row: 2, cells: ['x;', '=1'], kind: 'data', result },
    { row: 3, cells: titles.slice(1), kind: 'data', result },
    { row: 4, cells: [...titles, 'beyond'], kind: 'data', result },
    { row: 5, cells: [''], kind: 'blank', result: null },
  ];

  it('has its added cells below their titles', () => {
    const text = createRowWriter('csv', { fileName: 'a', columns, style })(rows);
    const added = `EMPTY;;;"'=A;B";;;;`;
    expect(text.split('\n')).toEqual([
      `${titles.join(';')};status;problems;suggestion;bank;bic;bic_match;national_check;iban`,
      `"x;";'=1${';'.repeat(998)};${added}`,
      `${titles.slice(1).join(';')};;${added}`,
      `${titles.join(';')};${added};beyond`,
      '',
      '',
    ]);
  });

  it('is not widened in JSON', () => {
    const text = createRowWriter('json', { fileName: 'a', columns, style })(rows);
    expect(JSON.parse(text.split('\n')[0] ?? '').cells).toEqual(['x;', '=1']);
  });
});

it('on a terminal, a finding of a message says which payment, what is wrong, and what would be right', async () => {
  const message = rightMessage('pain.001.001.09')
    .replace('<Nm>Creditor 2', '<Nm>Müller')
    .replace('NL91ABNA0417164300', 'NL91ABNA0417164301')
    .replace('<NbOfTxs>3<', '<NbOfTxs>4<')
    .replace('<ChrgBr>SLEV', '<ChrgBr>SHAR');
  const csv = createFindingWriter('csv', 'payments.xml');
  let cells = csv.begin();
  const writer = createFindingWriter('table', 'payments.xml');
  let text = writer.begin();
  const check = tCheck(message);
  for await (const finding of check) {
    text += writer.write(finding);
    cells += csv.write(finding);
  }
  expect(text).toBe(`payments.xml
LINE   PAYEE                               AMOUNT                END-TO-END ID
       all payments of the batch PAYMENT-1
23     error: The sharing of charges (ChrgBr) of a SEPA payment must be SLEV.
       Right would be: SLEV
       (CHARGE_BEARER_NOT_SLEV)
       Müller                              EUR 100               INVOICE-2
40     warning: The name (Nm) has characters outside the SEPA set: ü. Replace them.
       Right would be: Muller
       (CHARACTERS_NOT_SEPA)
43     error: The IBAN NL91 **** **** **43 01 is not valid. The check digits do not match the rest of the IBAN.
       Perhaps meant (ask the payee): NL91ABNA0417164300
       (WRONG_CHECK_DIGITS)
       the whole file
7      error: The number of payments (NbOfTxs) is 4, but there are 3 transactions.
       Right would be: 3
       (TRANSACTION_COUNT_MISMATCH)
`);
  // A file for spreadsheets says the same.
  const lines: Record<string, string>[] = parse(cells, { columns: true });
  const named = lines.map((line) => [
    ...[line.batch, line.payee, line.amount, line.end_to_end_id, line.message?.slice(0, 17)],
  ]);
  expect(named).toEqual([
    ['PAYMENT-1', '', '', '', 'The sharing of ch'],
    ['PAYMENT-1', 'Müller', 'EUR 100', 'INVOICE-2', 'The name (Nm) has'],
    ['PAYMENT-1', 'Müller', 'EUR 100', 'INVOICE-2', 'The IBAN NL91 ***'],
    ['', '', '', '', 'The number of pay'],
  ]);
  expect(summarizeMessage(check.summary())).toBe(
    'pain.001.001.09, 2 batches, 3 payments (1 with an error, 1 with a warning), 2 different IBANs, EUR 1112.35, judged by the rules of SEPA, 2 findings about batches or the whole file',
  );
});

it.each([
  ['IBAN_NOT_COMPACT', 'NL91ABNA0417164300', 'Right would be: NL91ABNA0417164300'],
  ['TOO_SHORT', 'NL91ABNA0417164300', 'Perhaps meant (ask the payee): NL91ABNA0417164300'],
  ['PAYEE_NAME_SIMILAR', 'Anna Muster', 'The bank writes: Anna Muster'],
] as const)('on a terminal, the suggestion of %s says whose it is', (code, suggestion, line) => {
  const finding = createFinding(code, { line: 1, xpath: '/' }, 'It is wrong.', suggestion);
  expect(createFindingWriter('table', 'payments.xml').write(finding)).toContain(`  ${line}\n`);
});

it('on a terminal, the summary of a table names the payments of findings, without IBANs', async () => {
  const rows = [
    'Empfänger;Betrag;Kontonummer;BLZ;IBAN;Text',
    'Anna;12,50;532013000;37040044;DE89370400440532013001;x',
    ';;;;DE89370400440532013002;y',
    'Konto DE89 3704 0044 0532 0130 01 von Zoe;1;;;DE89370400440532013003;z',
    ...['Bob', 'Cara', 'Dora'].map((name) => `${name};1;;;DE89370400440532013000;z`),
  ];
  const [table = expect.unreachable()] = await readTables(
    await openPaymentStream('payees.csv', replay([Buffer.from(rows.join('\n'))])),
  );
  const banks = { has: () => false, accountCheckMethod: () => null, bics: () => [] };
  const answers = { find: () => ({ kind: 'not-asked', reason: null }) as const };
  const describe = async (isTerminal: boolean) => {
    const names = { iban: null, bic: null, name: null };
    const tables = [{ ...table, groups: replay([rows.map((row) => row.split(';'))]) }];
    const [planned] = await checkTables({
      fileName: 'payees.csv',
      tables,
      sheet: null,
      columnNames: names,
      answers,
      banks,
    });
    const { columns, rows: groups } = planned?.checked ?? expect.unreachable();
    const tally = new Tally(isTerminal ? columns : null);
    for await (const group of groups) tally.add(group);
    return describeTally('payees.csv', tally, columns, table).at(-1) ?? '';
  };
  const found = '            3  WRONG_CHECK_DIGITS (error):';
  expect((await describe(true)).split('\n')).toEqual([
    found,
    '               row 2: Anna, Betrag 12,50, Kontonummer 532013000, BLZ 37040044',
    '               row 3: no payee and no amount',
    '               row 4: Konto [IBAN] von Zoe, Betrag 1',
  ]);
  expect(await describe(false)).toBe(`${found} rows 2, 3, 4`);
});
