import { ImportError } from '../import-error.ts';
import type { BankFileFormat, Column } from './bank-file-format.ts';
import { cellText, readBic, readCode } from './cells.ts';
import { chain } from './chain.ts';
import type { Row, Sheet } from './row.ts';

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

/** In characters. */
const maxQuoteLength = 300;

async function take(iterator: AsyncIterator<Row>, count: number): Promise<Row[]> {
  const rows: Row[] = [];
  while (rows.length < count) {
    const { value, done } = await iterator.next();
    if (done) break;
    rows.push(value);
  }
  return rows;
}
