import type { CheckedRow } from './check-rows.ts';
import type { Columns } from './find-columns.ts';
import type { Severity } from './finding.ts';
import type { RowStatus } from './judge-row.ts';

/** Counts what was found in a file, for the summary. */
export class Tally {
  rows = 0;
  readonly statuses = new Map<RowStatus, number>();
  readonly findings = new Map<string, { severity: Severity; count: number; firstRows: number[] }>();

  add(rows: readonly CheckedRow[]): void {
    for (const { row, result } of rows) {
      if (result === null) continue;
      this.rows += 1;
      this.statuses.set(result.status, (this.statuses.get(result.status) ?? 0) + 1);
      for (const { code, severity } of result.findings) this.#addFinding(code, severity, row);
    }
  }

  #addFinding(code: string, severity: Severity, row: number): void {
    const found = this.findings.get(code) ?? { severity, count: 0, firstRows: [] };
    found.count += 1;
    if (found.firstRows.length < maxListedRows) found.firstRows.push(row);
    this.findings.set(code, found);
  }

  /** Rows with a well-formed IBAN that the service did not answer. */
  unanswered(): number {
    return (this.statuses.get('FAILED') ?? 0) + (this.statuses.get('NOT_CHECKED') ?? 0);
  }
}

const maxListedRows = 5;

/** The summary of a file, as lines for people. It contains no IBAN. */
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
    ...(findings.size === 0 ? [] : ['  findings']),
    ...[...findings]
      .sort(([, one], [, other]) => other.count - one.count)
      .map(([code, { count: number, severity, firstRows }]) => {
        const more = number > firstRows.length ? ', ...' : '';
        const listed = `${firstRows.length === 1 ? 'row' : 'rows'} ${firstRows.join(', ')}${more}`;
        return `  ${count(number).padStart(11)}  ${code} (${severity}): ${listed}`;
      }),
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

/** Such as "1 row" and "1,500 rows". */
export function countOf(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
