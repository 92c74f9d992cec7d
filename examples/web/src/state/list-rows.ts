import type { ListEntry } from './iban-text.ts';
import { problemMessages } from './labels.ts';
import type { RowState } from './use-iban-list.ts';

export const kinds = [
  'valid',
  'unknown',
  'suspicious',
  'noted',
  'warning',
  'error',
  'invalid',
  'missing',
  'failed',
  'waiting',
] as const;

/**
 * Suspicious: valid, but to be confirmed with the payee. Error, warning and noted (a hint): the severity of a finding of a file, beside
 * its IBAN.
 */
export type RowKind = (typeof kinds)[number];

export interface ListRow extends Omit<ListEntry, 'start'> {
  /** Position in the list. */
  index: number;
  kind: RowKind;
  state: RowState;
  /** Why it needs attention; empty if it does not. */
  problem: string;
  /** Name and BIC; empty unless the IBAN is valid and its bank known. */
  bank: string;
  suggestions: readonly string[];
}

export type KindLabels = Readonly<Record<RowKind, string>>;

export const kindLabels: KindLabels = {
  valid: 'valid',
  unknown: 'bank not known',
  suspicious: 'suspicious',
  noted: 'with a hint',
  warning: 'with a warning',
  error: 'with an error',
  invalid: 'not valid',
  missing: 'without an IBAN',
  failed: 'failed',
  waiting: 'not checked',
};

export function createRow({ typed, iban }: Omit<ListEntry, 'start'>, index: number, state: RowState): ListRow {
  const row = { typed, iban, index, state, problem: '', bank: '', suggestions: [] };
  if (iban === '') return { ...row, kind: 'missing' };
  if (state === 'waiting') return { ...row, kind: 'waiting' };
  if ('failure' in state) return { ...row, kind: 'failed', problem: state.failure.message };
  const { valid, problems, suggestions, nationalCheck, bankCodeStatus, bankData } = state.facts;
  if (!valid) {
    return { ...row, kind: 'invalid', problem: problems.map((each) => problemMessages[each]).join(' '), suggestions };
  }
  const bank = [bankData?.name, bankData?.bic && `BIC ${bankData.bic}`].filter(Boolean).join(', ');
  const doubt =
    nationalCheck === 'FAILED'
      ? 'Its national check digits do not match'
      : bankCodeStatus === 'NOT_LISTED'
        ? 'Its bank code is not in the national list'
        : null;
  if (doubt !== null) return { ...row, kind: 'suspicious', problem: `${doubt}: confirm it with the payee.`, bank };
  if (bank === '') return { ...row, kind: 'unknown' };
  return { ...row, kind: 'valid', bank };
}

/** Rows that need attention first, otherwise in the order of the list. */
export function sortByAttention<Row extends Pick<ListRow, 'kind' | 'index'>>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => attention[a.kind] - attention[b.kind] || a.index - b.index);
}

export const attention: Readonly<Record<RowKind, number>> = {
  invalid: 0,
  error: 0,
  failed: 1,
  suspicious: 2,
  warning: 2,
  missing: 3,
  noted: 4,
  unknown: 5,
  valid: 6,
  waiting: 6,
};

export function countByKind(rows: readonly Pick<ListRow, 'kind'>[]): Record<RowKind, number> {
  const counts = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<RowKind, number>;
  for (const { kind } of rows) counts[kind] += 1;
  return counts;
}

/** Such as "37 valid, 2 not valid, 1 failed". */
export function describeCounts(counts: Readonly<Record<RowKind, number>>): string {
  return kinds
    .filter((kind) => counts[kind] > 0 || kind === 'valid' || kind === 'invalid')
    .map((kind) => `${counts[kind].toLocaleString('en')} ${kindLabels[kind]}`)
    .join(', ');
}

/** As a table with a header, for a spreadsheet. */
export function toTable(rows: readonly ListRow[]): string[][] {
  const header = ['position', 'input', 'result', 'problem', 'suggestions', 'bank'];
  const lines = rows.map(({ index, typed, kind, problem, suggestions, bank }) => [
    ...[String(index + 1), typed, kindLabels[kind], problem, suggestions.join(' '), bank],
  ]);
  return [header, ...lines];
}

/**
 * RFC 4180, with a byte order mark, without which Excel does not recognize UTF-8. A cell that a spreadsheet would run as a formula
 * begins with `'`.
 */
export function toCsv(table: readonly (readonly string[])[]): string {
  const quote = (cell: string) => (/[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = table.map((cells) => cells.map((cell) => quote(guardFormula(cell))).join(','));
  return `\uFEFF${lines.map((line) => `${line}\r\n`).join('')}`;
}

/** Tab-separated, which spreadsheets paste into cells. */
export function toTabSeparated(table: readonly string[][]): string {
  return table.map((cells) => cells.map((cell) => guardFormula(cell).replaceAll(/\s+/g, ' ')).join('\t')).join('\n');
}

/** Numbers such as -12.50 and phone numbers such as +49 170 are unchanged. */
export function guardFormula(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) && !/^[+-]?[\d.,' ]*\d[\d.,' ]*%?$/.test(cell) ? `'${cell}` : cell;
}
