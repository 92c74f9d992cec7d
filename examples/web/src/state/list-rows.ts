import type { ListEntry } from './iban-text.ts';
import { problemMessages } from './labels.ts';
import type { RowState } from './use-iban-list.ts';

export type RowKind = 'valid' | 'invalid' | 'failed' | 'waiting';

export interface ListRow extends Omit<ListEntry, 'start'> {
  /** Position in the list. */
  index: number;
  kind: RowKind;
  state: RowState;
  /** Why it needs attention; empty if it does not. */
  problem: string;
  /** Name and BIC; empty unless the IBAN is valid. */
  bank: string;
  suggestions: readonly string[];
}

export const kindLabels: Readonly<Record<RowKind, string>> = {
  valid: 'valid',
  invalid: 'not valid',
  failed: 'failed',
  waiting: 'waiting',
};

export function createRow({ typed, iban }: ListEntry, index: number, state: RowState): ListRow {
  const row = { typed, iban, index, state, problem: '', bank: '', suggestions: [] };
  if (state === 'waiting') return { ...row, kind: 'waiting' };
  if ('failure' in state) return { ...row, kind: 'failed', problem: state.failure.message };
  const { valid, problems, suggestions, nationalCheck, bankData } = state.facts;
  if (!valid) {
    return { ...row, kind: 'invalid', problem: problems.map((each) => problemMessages[each]).join(' '), suggestions };
  }
  const problem =
    nationalCheck === 'FAILED' ? 'Its national check digits do not match: confirm it with the payee.' : '';
  const bank = [bankData?.name, bankData?.bic && `BIC ${bankData.bic}`].filter(Boolean).join(', ') || 'Bank not known';
  return { ...row, kind: 'valid', problem, bank };
}

/** Rows that need attention first, otherwise in the order of the list. */
export function sortByAttention(rows: readonly ListRow[]): ListRow[] {
  const rank = ({ kind, problem }: ListRow) => (kind === 'invalid' ? 0 : kind === 'failed' ? 1 : problem ? 2 : 3);
  return rows.toSorted((a, b) => rank(a) - rank(b) || a.index - b.index);
}

export function countByKind(rows: readonly ListRow[]): Record<RowKind, number> {
  const counts = { valid: 0, invalid: 0, failed: 0, waiting: 0 };
  for (const { kind } of rows) counts[kind] += 1;
  return counts;
}

/** As a table with a header, for a spreadsheet. */
export function toTable(rows: readonly ListRow[]): string[][] {
  const header = ['position', 'input', 'result', 'problem', 'suggestions', 'bank'];
  const lines = rows.map(({ index, typed, kind, problem, suggestions, bank }) => [
    ...[String(index + 1), typed, kindLabels[kind], problem, suggestions.join(' '), bank],
  ]);
  return [header, ...lines];
}

/** RFC 4180, with a byte order mark for Excel. A cell that a spreadsheet would run as a formula begins with `'`. */
export function toCsv(table: readonly string[][]): string {
  const lines = table.map((cells) => cells.map((cell) => `"${guardFormula(cell).replaceAll('"', '""')}"`).join(','));
  return `\uFEFF${lines.join('\r\n')}\r\n`;
}

/** Tab-separated, which spreadsheets paste into cells. */
export function toTabSeparated(table: readonly string[][]): string {
  return table.map((cells) => cells.map((cell) => guardFormula(cell).replaceAll(/\s+/g, ' ')).join('\t')).join('\n');
}

function guardFormula(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}
