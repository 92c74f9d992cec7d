import { count, countOf } from '../base/process/terminal.ts';
import type { CheckedRow, RowKind } from './check-tables.ts';
import { type Columns, columnLetters } from './find-columns.ts';
import { describeCount, FindingCounts } from './finding.ts';
import type { RowStatus } from './judge-row.ts';
import type { MessageSummary } from './pain/check-message.ts';
import type { Scheme } from './pain/rules.ts';
import type { Table } from './read-rows.ts';

/** Counts what was found in a table, for the summary. */
export class Tally {
  /** All, blank ones included. */
  rows = 0;
  readonly kinds = new Map<RowKind, number>();
  /** By column, in the order of the results. */
  readonly statuses = new Map<number, Map<RowStatus, number>>();
  /** Accounts of the payer that are those of the row before, by column. */
  readonly repeated = new Map<number, number>();
  readonly findings = new FindingCounts();
  #unanswered = 0;

  add(rows: readonly CheckedRow[]): void {
    for (const { row, kind, result } of rows) {
      this.rows += 1;
      increase(this.kinds, kind);
      if (result === null) continue;
      for (const { code, severity } of result.findings) this.findings.add(code, severity, row);
      for (const { column, status, findings, isRepeated } of result.cells) {
        if (isRepeated) {
          increase(this.repeated, column);
          continue;
        }
        if (status === 'FAILED' || status === 'NOT_CHECKED') this.#unanswered += 1;
        // Accounts above the titles are in any column.
        this.#countStatus(kind === 'above' ? aboveTitles : column, status);
        for (const { code, severity } of findings) this.findings.add(code, severity, row);
      }
    }
  }

  #countStatus(column: number, status: RowStatus): void {
    const counts = this.statuses.get(column) ?? new Map<RowStatus, number>();
    this.statuses.set(column, increase(counts, status));
  }

  /** Well-formed IBANs that the service did not answer. */
  unanswered(): number {
    return this.#unanswered;
  }
}

function increase<Key>(counts: Map<Key, number>, key: Key): Map<Key, number> {
  return counts.set(key, (counts.get(key) ?? 0) + 1);
}

const aboveTitles = -1;

/** The summary of a table, as lines for people. It contains no IBAN. @param name of the file, and of the sheet of a workbook */
export function describeTally(
  name: string,
  tally: Tally,
  columns: Columns,
  { style, isHidden }: Pick<Table, 'style' | 'isHidden'>,
): string[] {
  const { rows, kinds, statuses, repeated, findings } = tally;
  const label = (column: number) => quote(columns.titles[column] ?? columnLetters(column));
  const bics = columns.ibans.flatMap(({ bic }) => (bic === null ? [] : [label(bic)]));
  const found = [
    ...(columns.ibans.length === 0 ? [] : [`IBANs in ${columns.ibans.map(({ column }) => label(column)).join(', ')}`]),
    ...(bics.length === 0 ? [] : [`BICs in ${bics.join(', ')}`]),
    ...(columns.name === null || columns.ibans.length === 0 ? [] : [`names in ${label(columns.name)}`]),
  ];
  const checked = columns.ibans.length === 0 ? 0 : (kinds.get('data') ?? 0);
  const others = listCounts(otherKinds, kinds).map(([number, label]) => `${count(number)} ${label}`);
  const headings = statuses.size > 1;
  return [
    `${name}: ${countOf(rows, 'row')} read, ${count(checked)} checked${found.map((each) => `, ${each}`).join('')}`,
    ...(columns.ibans.length > 0
      ? []
      : [`  not checked: ${isHidden ? 'the sheet is hidden; --sheet names it' : 'no column has IBANs'}`]),
    // It is recognized by its letters, so it may be another one.
    ...(/^utf/.test(style.encoding ?? 'utf') ? [] : [`  read as ${style.encoding}; --encoding names another encoding`]),
    ...(others.length === 0 ? [] : [`  other rows: ${others.join(', ')}`]),
    ...[...statuses].flatMap(([column, counts]) => [
      ...(headings ? [`  ${column === aboveTitles ? 'above the titles' : label(column)}`] : []),
      ...describeStatuses(counts),
      ...describeRepeated(repeated.get(column)),
    ]),
    ...(columns.notChecked.length === 0
      ? []
      : [`  not checked: the IBANs in ${columns.notChecked.map(label).join(', ')}, as --column names another column`]),
    ...findings.describe('row'),
  ];
}

function describeStatuses(counts: ReadonlyMap<RowStatus, number>): string[] {
  return listCounts(statusNames, counts).map(([number, label]) => describeCount(number, label));
}

function describeRepeated(rows: number | undefined): string[] {
  return rows === undefined ? [] : [describeCount(rows, "the payer's account of the row before")];
}

/** Those that are not 0. */
function listCounts<Key>(names: readonly [Key, string][], counts: ReadonlyMap<Key, number>): [number, string][] {
  return names.map(([key, label]): [number, string] => [counts.get(key) ?? 0, label]).filter(([number]) => number > 0);
}

const otherKinds: readonly [RowKind, string][] = [
  ['above', 'above the titles'],
  ['titles', 'with the titles'],
  ['blank', 'blank'],
  ['total', 'with totals or lines'],
];

/** The summary of a payment message, as lines for people. It contains no IBAN. */
export function describeMessage(fileName: string, summary: MessageSummary, findings: FindingCounts): string[] {
  return [`${fileName}: ${summarizeMessage(summary)}`, ...findings.describe('line')];
}

/** What was read, and how it was judged, in the words of those who pay: `PmtInf` is a batch of payments. */
export function summarizeMessage({ message, payments, transactions, ibans, sums, rules, isComplete }: MessageSummary) {
  const parts = [
    message ?? 'XML',
    countOf(payments, 'batch'),
    countOf(transactions, message?.startsWith('pain.008') ? 'direct debit' : 'payment'),
    countOf(ibans, 'different IBAN'),
    ...sums.map(({ currency, sum }) => `${currency} ${sum}`),
    ...(rules.length === 0 ? [] : [`judged by the rules of ${rules.map((each) => schemeNames[each]).join(', ')}`]),
    ...(isComplete ? [] : ['not read to its end, because of the last finding']),
  ];
  return parts.join(', ');
}

const schemeNames: Readonly<Record<Scheme, string>> = {
  ...{ iso: 'ISO 20022', sepa: 'SEPA', dk: 'German banks', sps: 'Swiss banks' },
};

const statusNames: readonly [RowStatus, string][] = [
  ['VALID', 'valid'],
  ['INVALID', 'not valid'],
  ['FAILED', 'not answered, because the service failed'],
  ['NOT_CHECKED', 'well-formed, but not looked up'],
  ['EMPTY', 'without an IBAN'],
];

function quote(title: string): string {
  return JSON.stringify(title);
}
