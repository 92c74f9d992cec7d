import { count, countOf } from '../base/process/terminal.ts';
import type { CheckedRow } from './check-rows.ts';
import type { Columns } from './find-columns.ts';
import { FindingCounts } from './finding.ts';
import type { RowStatus } from './judge-row.ts';
import type { MessageSummary } from './pain/check-message.ts';

/** Counts what was found in a table, for the summary. */
export class Tally {
  rows = 0;
  readonly statuses = new Map<RowStatus, number>();
  readonly findings = new FindingCounts();

  add(rows: readonly CheckedRow[]): void {
    for (const { row, result } of rows) {
      if (result === null) continue;
      this.rows += 1;
      this.statuses.set(result.status, (this.statuses.get(result.status) ?? 0) + 1);
      for (const { code, severity } of result.findings) this.findings.add(code, severity, row);
    }
  }

  /** Rows with a well-formed IBAN that the service did not answer. */
  unanswered(): number {
    return (this.statuses.get('FAILED') ?? 0) + (this.statuses.get('NOT_CHECKED') ?? 0);
  }
}

/** The summary of a table, as lines for people. It contains no IBAN. */
export function describeTally(fileName: string, { rows, statuses, findings }: Tally, columns: Columns): string[] {
  const { iban, bic, name, titles, otherIbanColumns } = columns;
  const found = [
    `IBANs in ${quote(titles[iban])}`,
    ...(bic === null ? [] : [`BICs in ${quote(titles[bic])}`]),
    ...(name === null ? [] : [`names in ${quote(titles[name])}`]),
  ];
  return [
    `${fileName}: ${countOf(rows, 'row')}, ${found.join(', ')}`,
    ...(otherIbanColumns.length === 0
      ? []
      : [`  not checked: the IBANs in ${otherIbanColumns.map(quote).join(', ')}; --column names another column`]),
    ...statusNames.flatMap(([status, label]) => {
      const number = statuses.get(status) ?? 0;
      return number === 0 ? [] : [`  ${count(number).padStart(11)}  ${label}`];
    }),
    ...findings.describe('row'),
  ];
}

/** The summary of a payment message, as lines for people. It contains no IBAN. */
export function describeMessage(fileName: string, summary: MessageSummary, findings: FindingCounts): string[] {
  const { message, payments, transactions, ibans, sums, isComplete } = summary;
  const parts = [
    message ?? 'XML',
    countOf(payments, 'payment'),
    countOf(transactions, 'transaction'),
    countOf(ibans, 'different IBAN'),
    ...sums.map(({ currency, sum }) => `${currency} ${sum}`),
  ];
  return [
    `${fileName}: ${parts.join(', ')}`,
    ...(isComplete ? [] : ['  not read to its end, because of the last finding']),
    ...findings.describe('line'),
  ];
}

const statusNames: readonly [RowStatus, string][] = [
  ['VALID', 'valid'],
  ['INVALID', 'not valid'],
  ['FAILED', 'not answered, because the service failed'],
  ['NOT_CHECKED', 'well-formed, but not looked up'],
  ['EMPTY', 'without an IBAN'],
];

function quote(title: string | undefined): string {
  return JSON.stringify(title ?? '');
}
