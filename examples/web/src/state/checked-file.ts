import { findBicProblem } from './bic.ts';
import { toCsv } from './list-rows.ts';
import type { TextTable } from './text-table.ts';
import type { FileRow } from './use-file-check.ts';

/** The columns that are added, as those of the command line tool. */
const addedTitles = ['status', 'problems', 'suggestion', 'bank', 'bic', 'bic_match', 'national_check', 'iban'];

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

function addedCells(row: FileRow): string[] {
  const { status, problems, suggestion = '', bank = '', bic = '', nationalCheck = '', iban = '' } = judge(row);
  const codes = [...problems, ...listBicProblems(row)].join(' ');
  return [status, codes, suggestion, bank, bic, row.bicMatch, nationalCheck, iban];
}

interface Judgement {
  status: string;
  problems: readonly string[];
  suggestion?: string;
  bank?: string | undefined;
  bic?: string | undefined;
  nationalCheck?: string;
  iban?: string;
}

function judge({ kind, iban, state, suggestions }: FileRow): Judgement {
  if (kind === 'missing') return { status: 'EMPTY', problems: ['IBAN_MISSING'] };
  if (state === 'waiting') return { status: 'NOT_CHECKED', problems: ['NOT_CHECKED'] };
  if ('failure' in state) return { status: 'FAILED', problems: ['SERVICE_FAILED'] };
  const { valid, problems, nationalCheck, bankCodeStatus, bankData } = state.facts;
  const status = valid ? 'VALID' : 'INVALID';
  const suggestion = suggestions.join(' ');
  if (problems.some((problem) => problem !== 'REJECTED_BY_SERVICE')) return { status, problems, suggestion };
  const doubts = [
    ...(nationalCheck === 'FAILED' ? ['NATIONAL_CHECK_FAILED'] : []),
    ...(bankCodeStatus === 'NOT_LISTED' ? ['BANK_CODE_NOT_LISTED'] : []),
  ];
  const bank = bankData?.name ?? undefined;
  const bic = bankData?.bic ?? undefined;
  return { status, problems: [...problems, ...doubts], suggestion, bank, bic, nationalCheck, iban };
}

function listBicProblems({ bic, bicMatch }: FileRow): string[] {
  const problem = bic === '' ? null : findBicProblem(bic);
  if (problem !== null) return [problem];
  return bicMatch === 'OTHER_BANK' ? ['BIC_OF_OTHER_BANK'] : [];
}

/** Such as payees-checked.csv. */
export function nameCheckedFile(name: string): string {
  return name.replace(/(\.\w+)?$/, (extension) => `-checked${extension || '.csv'}`);
}
