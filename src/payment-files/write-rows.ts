import { stringify } from 'csv-stringify/sync';
import { type Cell, neutralize } from './cells.ts';
import type { CheckedRow } from './check-rows.ts';
import type { Columns } from './find-columns.ts';
import type { RowResult } from './judge-row.ts';
import { PaymentFileError } from './open-file.ts';
import { maxWorkbookRows, type TextStyle } from './read-rows.ts';

export const outputFormats = ['csv', 'xlsx', 'json'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The rows of the input in their order, with columns for what was found out. */
export interface RowWriter {
  /** The next part of the output. */
  write(rows: readonly CheckedRow[]): string;
  /** The last part. */
  end(): Promise<Buffer | string>;
}

interface RowWriterOptions {
  fileName: string;
  columns: Columns;
  style: TextStyle;
}

export function createRowWriter(format: OutputFormat, options: RowWriterOptions): RowWriter {
  switch (format) {
    case 'csv':
      return createCsvWriter(options);
    case 'json':
      return createJsonWriter(options);
    case 'xlsx':
      return createWorkbookWriter(options);
  }
}

/** The columns that are added, with their titles. */
const addedTitles = ['status', 'problems', 'suggestion', 'bank', 'bic', 'bic_match', 'national_check', 'iban'] as const;

function addedCells({ status, findings, suggestions, bank, bic, bicMatch, nationalCheck, iban }: RowResult): string[] {
  const problems = [...new Set(findings.map(({ code }) => code))].join(' ');
  return [status, problems, suggestions.join(' '), bank, bic, bicMatch, nationalCheck, iban];
}

/** The added cells come after the columns of the table, and before what a row has beyond them. */
function extendRow({ row, cells, result }: CheckedRow, { titles, titleRow }: Columns): Cell[] {
  const added = result === null ? null : addedCells(result);
  const more = row === titleRow ? addedTitles : added;
  if (more === null) return cells.map(neutralizeCell);
  const own = titles.map((_, column) => cells[column] ?? '');
  return [...own, ...more, ...cells.slice(titles.length)].map(neutralizeCell);
}

function neutralizeCell(cell: Cell): Cell {
  return typeof cell === 'number' ? cell : neutralize(cell);
}

/** UTF-8, with the delimiter and the line ends of the input. */
function createCsvWriter({ columns, style }: RowWriterOptions): RowWriter {
  let isFirst = true;
  const options = { delimiter: style.delimiter, record_delimiter: style.lineEnd };
  return {
    write(rows) {
      const text = stringify(
        rows.map((row) => extendRow(row, columns)),
        options,
      );
      const mark = isFirst && style.hasByteOrderMark ? '\uFEFF' : '';
      isFirst = false;
      return mark + text;
    },
    end: async () => '',
  };
}

/** One object a line, only for rows that were checked. Cells are as in the input. */
function createJsonWriter({ fileName, columns }: RowWriterOptions): RowWriter {
  return {
    write: (rows) => rows.flatMap((row) => toJsonLine(fileName, row, columns)).join(''),
    end: async () => '',
  };
}

function toJsonLine(file: string, { row, cells, result }: CheckedRow, { name }: Columns): string[] {
  if (result === null) return [];
  const { status, findings, suggestions, bank, bic, bicMatch, nationalCheck, iban } = result;
  const problems = [...new Set(findings.map(({ code }) => code))];
  const line = {
    file,
    row,
    name: name === null ? null : String(cells[name] ?? '') || null,
    status,
    problems,
    suggestion: suggestions.join(' ') || null,
    bank: bank || null,
    bic: bic || null,
    bic_match: bicMatch || null,
    national_check: nationalCheck || null,
    iban: iban || null,
    findings,
    cells,
  };
  return [`${JSON.stringify(line)}\n`];
}

/** A workbook is created in memory. */
function createWorkbookWriter({ columns }: RowWriterOptions): RowWriter {
  const all: Cell[][] = [];
  return {
    write(rows) {
      for (const row of rows) all.push(extendRow(row, columns));
      if (all.length > maxWorkbookRows) throw tooManyRows();
      return '';
    },
    async end() {
      // Loaded only here.
      const { default: writeWorkbook } = await import('write-excel-file/node');
      const cells = all.map((row) => row.map((value) => (value === '' ? null : value)));
      return writeWorkbook(cells, { stickyRowsCount: columns.titleRow ?? 0 }).toBuffer();
    },
  };
}

export function tooManyRows(): PaymentFileError {
  const limit = maxWorkbookRows.toLocaleString('en');
  return new PaymentFileError(`a workbook can have ${limit} rows, and there are more; use --format csv`);
}
