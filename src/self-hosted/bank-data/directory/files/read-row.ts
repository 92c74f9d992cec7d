import type { BankEntry } from '../../../../bank-lists/listed-bank.ts';
import { ImportError } from '../import-error.ts';
import type { BankFileFormat } from './bank-file-format.ts';
import { cellText, readBic, readCode } from './cells.ts';
import type { Table } from './find-table.ts';
import type { Row } from './row.ts';

type RowContent = { entry: BankEntry } | { skipReason: string };

/**
 * The bank in a row, or why the row is valid but skipped.
 * @throws ImportError for an invalid row, with its position and what would be right
 */
export function readRow(row: Row, table: Table, format: BankFileFormat): RowContent {
  const invalid = (problem: string) => new ImportError(`${table.place} ${row.line}: ${problem}`);
  const columns = countColumns(row, table.width);
  if (table.width !== null && columns !== table.width) {
    throw invalid(`${columns} ${columns === 1 ? 'column' : 'columns'}; a row of this file has ${table.width}`);
  }

  const fields = Object.fromEntries(
    [...table.positions.keys()].map((field) => [field, cellText(cellOf(row, table, field))]),
  );
  const { code = '', name = '', bic: listedBic = '', zip = '', city = '' } = fields;
  if (code === '') return { skipReason: 'rows without a bank code' };
  const problem = format.findProblem?.(fields) ?? null;
  if (problem !== null) throw invalid(problem);
  const skipReason = format.findSkipReason?.(fields) ?? null;
  if (skipReason !== null) return { skipReason };

  const bankCode = readCode(cellOf(row, table, 'code'), format.code);
  if (bankCode === null) throw invalid(`the bank code is "${code}"; it must be ${format.code.description}`);
  const bic = readBic(listedBic);
  if (bic === null) {
    throw invalid(
      `the BIC is "${listedBic}"; it must have 8 or 11 letters and digits, with a country code at positions 5 and 6`,
    );
  }
  return { entry: { bankCode, name, zip, city, bic } };
}

/** Ignores empty cells at the end of a row that is too long. */
function countColumns({ cells }: Row, width: number | null): number {
  const extra = cells.slice(width ?? 0);
  return extra.every((cell) => cellText(cell) === '') ? Math.min(cells.length, width ?? cells.length) : cells.length;
}

/** The first of a field's cells that is not empty. */
function cellOf({ cells }: Row, { positions }: Table, field: string): string | number {
  const candidates = positions.get(field)?.map((position) => cells[position] ?? '') ?? [];
  return candidates.find((cell) => cellText(cell) !== '') ?? '';
}
