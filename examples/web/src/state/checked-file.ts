import { toCsv } from './list-rows.ts';
import type { TextTable } from './text-table.ts';
import type { FileRow } from './use-file-check.ts';

/** The columns that are added, as those of the command line tool. */
const addedTitles = ['status', 'problems', 'suggestion', 'bank', 'bic', 'national_check', 'iban'];

interface CheckedFile {
  table: TextTable;
  titleRow: number | null;
  /** Position of the IBANs. */
  column: number;
  /** Number of columns. */
  width: number;
  rows: readonly FileRow[];
}

/** The rows of the input in their order, with columns for what was found out: those of the command line tool. */
export function writeCheckedFile({ table, titleRow, column, width, rows }: CheckedFile): Blob {
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  const lines = table.rows.map((cells, position) => {
    const row = byPosition.get(position);
    const added = position === titleRow ? addedTitles : row && addedCells(row);
    if (!added) return cells;
    const own = Array.from({ length: width }, (_, each) =>
      row?.isCorrected && each === column ? row.iban : (cells[each] ?? ''),
    );
    return [...own, ...added, ...cells.slice(width)];
  });
  return new Blob([toCsv(lines, table)], { type: 'text/csv' });
}

function addedCells({ kind, iban, state, suggestions }: FileRow): string[] {
  if (kind === 'missing') return ['EMPTY', 'IBAN_MISSING', '', '', '', '', ''];
  if (state === 'waiting') return ['NOT_CHECKED', 'NOT_CHECKED', '', '', '', '', ''];
  if ('failure' in state) return ['FAILED', 'SERVICE_FAILED', '', '', '', '', ''];
  const { valid, problems, nationalCheck, bankCodeStatus, bankData } = state.facts;
  const isWellFormed = problems.every((problem) => problem === 'REJECTED_BY_SERVICE');
  const codes = [
    ...problems,
    ...(isWellFormed && nationalCheck === 'FAILED' ? ['NATIONAL_CHECK_FAILED'] : []),
    ...(isWellFormed && bankCodeStatus === 'NOT_LISTED' ? ['BANK_CODE_NOT_LISTED'] : []),
  ];
  return [
    valid ? 'VALID' : 'INVALID',
    codes.join(' '),
    suggestions.join(' '),
    bankData?.name ?? '',
    bankData?.bic ?? '',
    isWellFormed ? nationalCheck : '',
    isWellFormed ? iban : '',
  ];
}

/** Such as payees-checked.csv. */
export function nameCheckedFile(name: string): string {
  return name.replace(/(\.\w+)?$/, (extension) => `-checked${extension || '.csv'}`);
}
