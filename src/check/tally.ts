import { count, countOf, plural, shorten } from '../base/process/terminal.ts';
import { redactIbans } from '../base/redact.ts';
import type { CheckedRow, RowKind } from './check-tables.ts';
import { type Columns, columnLetters } from './find-columns.ts';
import { type Scheme, type Severity, severities } from './finding.ts';
import { type Cells, cellText } from './iban-cells.ts';
import type { RowStatus } from './judge-row.ts';
import type { MessageSummary } from './pain/check-message.ts';
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
  readonly #columns: Columns | null;

  /** @param columns by which the payments of findings are named; null: only by the numbers of their rows */
  constructor(columns: Columns | null = null) {
    this.#columns = columns;
  }

  add(rows: readonly CheckedRow[]): void {
    for (const { row, cells, kind, result } of rows) {
      this.rows += 1;
      increase(this.kinds, kind);
      if (result === null) continue;
      const place = this.#columns === null ? row : `${row}: ${describeRow(cells, this.#columns)}`;
      for (const finding of result.findings) this.findings.add(finding, place);
      for (const { column, status, findings, isRepeated } of result.cells) {
        if (isRepeated) {
          increase(this.repeated, column);
          continue;
        }
        // Accounts above the titles are in any column.
        const at = kind === 'above' ? aboveTitles : column;
        this.statuses.set(at, increase(this.statuses.get(at) ?? new Map<RowStatus, number>(), status));
        for (const finding of findings) this.findings.add(finding, place);
      }
    }
  }

  /** Whether the service has answered for all well-formed IBANs. */
  isAnswered(): boolean {
    return [...this.statuses.values()].every((counts) => !counts.has('FAILED') && !counts.has('NOT_CHECKED'));
  }
}

/** Counts findings by their code. */
export class FindingCounts {
  readonly #byCode = new Map<string, { severity: Severity; count: number; first: (number | string)[] }>();

  /** @param place number of the row or line; with a text, also what it has, such as "71: Anna, EUR 12.50" */
  add({ code, severity }: { code: string; severity: Severity }, place: number | string): void {
    const found = this.#byCode.get(code) ?? { severity, count: 0, first: [] };
    this.#byCode.set(code, found);
    found.count += 1;
    if (found.first.length < maxListedPlaces) found.first.push(place);
  }

  count(code: string): number {
    return this.#byCode.get(code)?.count ?? 0;
  }

  /** The codes that were found, with this severity or a more serious one. */
  codes(least: Severity): string[] {
    return [...this.#byCode].flatMap(([code, { severity }]) => (rank(severity) <= rank(least) ? [code] : []));
  }

  /** Lines for people. @param noun such as row */
  describe(noun: string): string[] {
    const codes = [...this.#byCode].sort(
      ([, one], [, other]) => rank(one.severity) - rank(other.severity) || other.count - one.count,
    );
    const lines = codes.map(([code, { count: number, severity, first }]) => {
      const more = number > first.length ? ['...'] : [];
      const listed =
        typeof first[0] === 'number'
          ? ` ${plural(first.length, noun)} ${[...first, ...more].join(', ')}`
          : [...first.map((place) => `${noun} ${place}`), ...more].map((line) => `\n${' '.repeat(15)}${line}`).join('');
      return describeCount(number, `${code} (${severity}):${listed}`);
    });
    return lines.length === 0 ? [] : ['  findings', ...lines];
  }
}

function rank(severity: Severity): number {
  return severities.indexOf(severity);
}

const maxListedPlaces = 5;

/** A line of a summary. */
function describeCount(number: number, label: string): string {
  return `  ${count(number).padStart(11)}  ${label}`;
}

/** Its payee, amount, and account or bank code of before IBANs, as far as the row has them. */
function describeRow(cells: Cells, { name, details, titles }: Columns): string {
  const texts = (name === null ? details : [name, ...details]).flatMap((column) => {
    const text = shorten(redactIbans(cellText(cells[column]).trim()), 40);
    return text === '' ? [] : [column === name ? text : `${titles[column]} ${text}`];
  });
  return texts.join(', ') || 'no payee and no amount';
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
  const label = (column: number) => JSON.stringify(columns.titles[column] ?? columnLetters(column));
  const list = (numbers: readonly number[]) => numbers.map(label).join(', ');
  const bics = columns.ibans.flatMap(({ bic }) => bic ?? []);
  const isChecked = columns.ibans.length > 0;
  let first = `${name}: ${countOf(rows, 'row')} read, ${count(isChecked ? (kinds.get('data') ?? 0) : 0)} checked`;
  if (isChecked) first += `, IBANs in ${list(columns.ibans.map(({ column }) => column))}`;
  if (bics.length > 0) first += `, BICs in ${list(bics)}`;
  if (columns.name !== null && isChecked) first += `, names in ${label(columns.name)}`;

  const lines = [first];
  const reason = isHidden ? 'the sheet is hidden; --sheet names it' : 'no column has IBANs';
  if (!isChecked) lines.push(`  not checked: ${reason}`);
  // It is recognized by its letters, so it may be another one.
  if (!/^utf/.test(style.encoding ?? 'utf'))
    lines.push(`  read as ${style.encoding}; --encoding names another encoding`);
  const others = listCounts(otherKinds, kinds).map(([number, label]) => `${count(number)} ${label}`);
  if (others.length > 0) lines.push(`  other rows: ${others.join(', ')}`);
  for (const [column, counts] of statuses) {
    if (statuses.size > 1) lines.push(`  ${column === aboveTitles ? 'above the titles' : label(column)}`);
    for (const [number, label] of listCounts(statusNames, counts)) lines.push(describeCount(number, label));
    const again = repeated.get(column);
    if (again !== undefined) lines.push(describeCount(again, "the payer's account of the row before"));
  }
  if (columns.notChecked.length > 0)
    lines.push(`  not checked: the IBANs in ${list(columns.notChecked)}, as --column names another column`);
  return [...lines, ...findings.describe('row')];
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

/** What was read of a payment message, and how it was judged, without IBANs, in the words of those who pay: `PmtInf` is a batch of payments. */
export function summarizeMessage(summary: MessageSummary): string {
  const { message, payments, transactions, ibans, sums, rules, found, isComplete } = summary;
  const judged = severities.filter((severity) => found[severity] > 0);
  const withFindings = judged.map(
    (severity) => `${count(found[severity])} with ${severity === 'error' ? 'an' : 'a'} ${severity}`,
  );
  const parts = [
    message ?? 'XML',
    countOf(payments, 'batch'),
    countOf(transactions, message?.startsWith('pain.008') ? 'direct debit' : 'payment') +
      (judged.length === 0 ? '' : ` (${withFindings.join(', ')})`),
    countOf(ibans, 'different IBAN'),
    ...sums.map(({ currency, sum }) => `${currency} ${sum}`),
    ...rules.map(({ scheme, transactions: of }) => `${rules.length > 1 ? `${count(of)} ` : ''}${judgedBy[scheme]}`),
    ...(found.others === 0 ? [] : [`${countOf(found.others, 'finding')} about batches or the whole file`]),
    ...(isComplete ? [] : ['not read to its end, because of the last finding']),
  ];
  return parts.join(', ');
}

const judgedBy: Readonly<Record<Scheme, string>> = {
  ...{ iso: 'not judged by rules of a bank', sepa: 'judged by the rules of SEPA' },
  ...{ dk: 'judged by the rules of German banks', sps: 'judged by some rules of Swiss banks' },
  'dk-other': 'judged by some rules of German banks, for payments outside SEPA',
};

const statusNames: readonly [RowStatus, string][] = [
  ['VALID', 'valid'],
  ['INVALID', 'not valid'],
  ['FAILED', 'not answered, because the service failed'],
  ['NOT_CHECKED', 'well-formed, but not looked up'],
  ['EMPTY', 'without an IBAN'],
];
