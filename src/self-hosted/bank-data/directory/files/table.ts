import type { BankEntry } from '../../../../bank-lists/listed-bank.ts';
import { chain, ImportError, type Row, type Sheet } from './bank-file.ts';
import { type BankFileFormat, type Column, cellText, maxQuoteLength, readBic, readCode } from './bank-file-format.ts';

/** The rows of a directory, and the positions of its fields. */
export interface Table {
  place: string;
  /** By field. If a field has several, the first that is not empty is used. */
  positions: ReadonlyMap<string, readonly number[]>;
  /** Number of columns; null if unknown. */
  width: number | null;
  /** Without the header and the rows above it. */
  rows: AsyncIterable<Row>;
}

/**
 * Finds the directory in the sheets of a file. If the column titles are known, it starts below the row that contains all
 * of them; otherwise with the first row that has a valid bank code or BIC, as a header has neither.
 * @throws ImportError if no sheet has it
 */
export async function findTable(sheets: readonly Sheet[], format: BankFileFormat, fileName: string): Promise<Table> {
  const titles = columnsOf(format).filter((column) => typeof column === 'string');
  let found: readonly Row[] = [];
  for (const { place, rows } of sheets) {
    const iterator = rows[Symbol.asyncIterator]();
    const top = await take(iterator, lookAhead);
    const index = titles.length > 0 ? findHeader(top, titles) : findFirstRow(top, format);
    const first = top[index];
    if (first === undefined) {
      if (found.length === 0) found = top;
      continue;
    }
    const isHeader = titles.length > 0;
    return {
      place,
      positions: new Map(
        Object.entries(format.columns).map(([field, columns]) => [
          field,
          [columns ?? []].flat().map((column) => (typeof column === 'string' ? findTitle(first, column) : column)),
        ]),
      ),
      width: format.layout.kind === 'workbook' ? null : (format.width ?? first.cells.length),
      rows: chain(top.slice(isHeader ? index + 1 : index), iterator),
    };
  }
  throw new ImportError(`${fileName} does not look like ${format.title}: ${describeMismatch(format, titles, found)}`);
}

/** Titles and notes take up a few rows; no directory starts further down. */
const lookAhead = 20;

function columnsOf({ columns }: BankFileFormat): Column[] {
  return Object.values(columns).flatMap((column) => column ?? []);
}

/** Prefers a header cell that equals the title to one that contains it, such as `Postadresse / PLZ`. */
function findTitle({ cells }: Row, title: string): number {
  const [wanted, ...headers] = [title, ...cells.map(String)].map((text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim(),
  );
  const exact = headers.indexOf(wanted ?? '');
  return exact >= 0 ? exact : headers.findIndex((header) => ` ${header} `.includes(` ${wanted} `));
}

function findHeader(top: readonly Row[], titles: readonly string[]): number {
  return top.findIndex((row) => titles.every((title) => findTitle(row, title) >= 0));
}

/**
 * The index of the first row with a bank. In a text file the first row may be invalid: unlike a header, it has a digit in
 * its bank code. In a workbook such a row may also be a title with a date.
 */
function findFirstRow(top: readonly Row[], { columns, code, layout }: BankFileFormat): number {
  const cellAt = ({ cells }: Row, column: Column) => cells[Number(column)] ?? '';
  const hasDigit = (row: Row) => /\d/.test(String(cellAt(row, columns.code)));
  const index = top.findIndex(
    (row) =>
      readCode(cellAt(row, columns.code), code) || (hasDigit(row) && readBic(cellText(cellAt(row, columns.bic)))),
  );
  return index > 0 && layout.kind !== 'workbook' ? top.findIndex(hasDigit) : index;
}

function describeMismatch({ columns, code }: BankFileFormat, titles: readonly string[], found: readonly Row[]): string {
  const expected =
    titles.length > 0
      ? `columns ${titles.join(', ')}`
      : `the bank code (${code.description}) in column ${Number(columns.code) + 1} and the BIC in column ${Number(columns.bic) + 1}`;
  // The longest of the rows at the top is most likely the header.
  const longest = found.reduce<Row | null>(
    (row, next) => (next.cells.length > (row?.cells.length ?? 0) ? next : row),
    null,
  );
  const cells = longest?.cells.map(cellText).filter(Boolean).join(', ') ?? '';
  return `expected ${expected}, found ${cells === '' ? 'nothing' : cells.slice(0, maxQuoteLength)}`;
}

async function take(iterator: AsyncIterator<Row>, count: number): Promise<Row[]> {
  const rows: Row[] = [];
  while (rows.length < count) {
    const { value, done } = await iterator.next();
    if (done) break;
    rows.push(value);
  }
  return rows;
}

/** Three times the longest name in an official file. */
const maxFieldLength = 500;

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
  const [long] = Object.entries(fields).find(([, text]) => text.length > maxFieldLength) ?? [];
  if (long !== undefined)
    throw invalid(`the ${long} has more than ${maxFieldLength} characters, the limit for a field`);
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
