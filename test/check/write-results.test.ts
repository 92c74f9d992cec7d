import { describe, expect, it } from 'vitest';
import type { CheckedRow } from '../../src/check/check-tables.ts';
import type { Columns } from '../../src/check/find-columns.ts';
import type { CellResult } from '../../src/check/judge-row.ts';
import { createFindingWriter, createRowWriter, neutralize } from '../../src/check/write-results.ts';
import { rightMessage, tCheck } from '../support/check/pain-messages.ts';

it.each([
  ...['=1+1', '+cmd|x', '-2+3|cmd', '@SUM(A1)', '=', "-1'=A1()"],
  // Full-width and small signs, which programs with an East Asian input method accept.
  ...['＝1+1', '＋1', '－1', '＠SUM(A1)', '﹦1', '﹢1', '﹣1', '﹫A'],
  // Characters that programs leave out before they read a cell.
  ...['\t=1', '\r=1', '\n=1', '\r\n=1', '\v=1', '\f=1', '\0=1', '\u0085=1', '\u2028=1', '\u2029=1'],
  ...['\tx', '\rx', '\nx', ' =1', '\u00a0=1', '\u3000＝1', '\ufeff=1', '\u200b=1', '\u202e=1', ' \n=1'],
])('puts an apostrophe before %j', (text) => {
  expect(neutralize(text)).toBe(`'${text}`);
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
  expect(neutralize(text)).toBe(text);
});

it.each([
  ['digits', `-${'1'.repeat(100_000)}x`],
  ['spaces', `${' '.repeat(100_000)}=`],
  ['points', `-${'. '.repeat(50_000)}x`],
])('takes no more steps for long texts of %s than for others', (_, text) => {
  const before = process.cpuUsage();
  expect(neutralize(text)).toBe(`'${text}`);
  const { user, system } = process.cpuUsage(before);
  // With a step for each pair of characters, it would be several seconds.
  expect((user + system) / 1_000).toBeLessThan(500);
});

describe('a row that is shorter than the titles', () => {
  const titles = Array.from({ length: 1_000 }, (_, column) => `t${column}`);
  const columns: Columns = {
    ibans: [{ column: 0, party: null, bic: null, isText: false }],
    name: null,
    titleRow: 1,
    titles,
    notChecked: [],
    isWhole: true,
    earlierResult: null,
  };
  const style = { delimiter: ';', lineEnd: '\n', hasByteOrderMark: false, encoding: 'utf-8' } as const;
  const cell = {
    column: 0,
    isRepeated: false,
    status: 'EMPTY',
    findings: [],
    suggestions: [],
    bank: 'A;B',
    bic: '',
    bicMatch: '',
    nationalCheck: '',
    iban: '',
  } satisfies CellResult;
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
    const added = 'EMPTY;;;"A;B";;;;';
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
  const writer = createFindingWriter('table', 'payments.xml');
  let text = writer.begin();
  for await (const finding of tCheck(message)) text += writer.write(finding);
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
       Right would be: NL91ABNA0417164300
       (WRONG_CHECK_DIGITS)
       the whole file
7      error: The number of payments (NbOfTxs) is 4, but there are 3 transactions.
       Right would be: 3
       (TRANSACTION_COUNT_MISMATCH)
`);
});
