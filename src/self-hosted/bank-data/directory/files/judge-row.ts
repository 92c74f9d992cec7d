import type { BankEntry } from '../../../../bank-lists/listed-bank.ts';
import { ImportError } from '../import-error.ts';
import type { BankFileFormat } from './bank-file-format.ts';
import { cellText, readBic, readCode } from './cells.ts';
import type { Table } from './find-table.ts';
import type { Row } from './row.ts';

export type Judgement = { entry: BankEntry } | { leftOut: string };

/**
 * The bank that a row describes, or why the row is in order but not taken.
 * @throws ImportError where the row is broken, with its place and what would be right
 */
export function judgeRow(row: Row, table: Table, format: BankFileFormat): Judgement {
  const broken = (sentence: string) => new ImportError(`${table.place} ${row.line}: ${sentence}`);
  const columns = countColumns(row, table.width);
  if (table.width !== null && columns !== table.width) {
    throw broken(`${columns} ${columns === 1 ? 'column' : 'columns'}; a row of this file has ${table.width}`);
  }

  const fields = Object.fromEntries(
    [...table.positions.keys()].map((field) => [field, cellText(cellOf(row, table, field))]),
  );
  const { code = '', name = '', bic: givenBic = '', zip = '', city = '' } = fields;
  if (code === '') return { leftOut: 'rows without a bank code' };
  const complaint = format.complain?.(fields) ?? null;
  if (complaint !== null) throw broken(complaint);
  const leftOut = format.leaveOut?.(fields) ?? null;
  if (leftOut !== null) return { leftOut };

  const bankCode = readCode(cellOf(row, table, 'code'), format.code);
  if (bankCode === null) throw broken(`the bank code is "${code}"; it must be ${format.code.words}`);
  const bic = readBic(givenBic);
  if (bic === null) {
    throw broken(
      `the BIC is "${givenBic}"; it must have 8 or 11 letters and digits, with the code of a country in place 5 and 6`,
    );
  }
  return { entry: { bankCode, name, zip, city, bic } };
}

/** Empty cells at the end of a row that is longer than asked for do not count. */
function countColumns({ cells }: Row, width: number | null): number {
  const extra = cells.slice(width ?? 0);
  return extra.every((cell) => cellText(cell) === '') ? Math.min(cells.length, width ?? cells.length) : cells.length;
}

/** The first of a field's cells that is not empty. */
function cellOf({ cells }: Row, { positions }: Table, field: string): string | number {
  const candidates = positions.get(field)?.map((position) => cells[position] ?? '') ?? [];
  return candidates.find((cell) => cellText(cell) !== '') ?? '';
}
