import { stringify } from 'csv-stringify/sync';
import { count } from '../base/process/terminal.ts';
import type { CheckedRow } from './check-rows.ts';
import type { Cell, Columns } from './find-columns.ts';
import type { Finding } from './finding.ts';
import type { RowResult } from './judge-row.ts';
import { PaymentFileError } from './open-file.ts';
import { maxWorkbookRows, type TextStyle } from './read-rows.ts';

export const outputFormats = ['csv', 'xlsx', 'json'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The rows of the input in their order, with columns for what was found out. */
interface RowWriter {
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

export function createRowWriter(format: OutputFormat, { fileName, columns, style }: RowWriterOptions): RowWriter {
  if (format === 'csv') return createCsvWriter(columns, style);
  if (format === 'xlsx') return createWorkbookWriter(columns);
  return {
    write: (rows) => rows.flatMap((row) => toJsonLine(fileName, row, columns)).join(''),
    end: async () => '',
  };
}

/** UTF-8, with the delimiter and the line ends of the input. */
function createCsvWriter(columns: Columns, { delimiter, lineEnd, hasByteOrderMark }: TextStyle): RowWriter {
  let mark = hasByteOrderMark ? '\uFEFF' : '';
  // The delimiters between missing cells are one text: a table with a thousand titles may have rows of one cell.
  const object = ({ missing }: Record<string, unknown>) => ({
    value: delimiter.repeat(Number(missing) - 1),
    quote: '',
  });
  const options = { delimiter, record_delimiter: lineEnd, cast: { object } };
  return {
    write(rows) {
      const lines = rows.map((row) => {
        const { own, missing, others } = extendRow(row, columns);
        return missing === 0 ? [...own, ...others] : [...own, { missing }, ...others];
      });
      const text = mark + stringify(lines, options);
      mark = '';
      return text;
    },
    end: async () => '',
  };
}

/** A workbook is created in memory. */
function createWorkbookWriter(columns: Columns): RowWriter {
  const all: Cell[][] = [];
  return {
    write(rows) {
      for (const row of rows) {
        const { own, missing, others } = extendRow(row, columns);
        all.push([...own, ...Array<Cell>(missing).fill(''), ...others]);
      }
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
  return new PaymentFileError(
    `a workbook can have ${count(maxWorkbookRows)} rows, and there are more; use --format csv`,
  );
}

/** The columns that are added, with their titles. */
const addedTitles = ['status', 'problems', 'suggestion', 'bank', 'bic', 'bic_match', 'national_check', 'iban'] as const;

function addedCells(result: RowResult): Readonly<Record<(typeof addedTitles)[number], string>> {
  const { status, findings, suggestions, bank, bic, bicMatch, nationalCheck, iban } = result;
  const problems = [...new Set(findings.map(({ code }) => code))].join(' ');
  const suggestion = suggestions.join(' ');
  return { status, problems, suggestion, bank, bic, bic_match: bicMatch, national_check: nationalCheck, iban };
}

interface ExtendedRow {
  /** In the columns of the table. */
  own: Cell[];
  /** How many cells it has fewer than the table has columns. */
  missing: number;
  /** The added cells, and those beyond the columns of the table. */
  others: Cell[];
}

/** A row that was not checked has no added cells, so it is as long as it was. */
function extendRow({ row, cells, result }: CheckedRow, { titles, titleRow }: Columns): ExtendedRow {
  const added = result === null ? [] : Object.values(addedCells(result));
  const more = row === titleRow ? addedTitles : added;
  const [own, beyond] = [cells.slice(0, titles.length), cells.slice(titles.length)];
  return {
    own: own.map(neutralizeCell),
    missing: more.length === 0 ? 0 : titles.length - own.length,
    others: [...more, ...beyond].map(neutralizeCell),
  };
}

/** One object a line, only for rows that were checked. Cells are as in the input. */
function toJsonLine(file: string, { row, cells, result }: CheckedRow, { name: column }: Columns): string[] {
  if (result === null) return [];
  const { findings } = result;
  const { status, problems, ...texts } = addedCells(result);
  const name = column === null ? null : String(cells[column] ?? '') || null;
  const added = Object.fromEntries(Object.entries(texts).map(([title, text]) => [title, text || null]));
  const line = { file, row, name, status, problems: problems.split(' ').filter(Boolean), ...added, findings, cells };
  return [`${JSON.stringify(line)}\n`];
}

/** The findings of a payment message, one a line. */
interface FindingWriter {
  /** What comes before the first finding. */
  begin(): string;
  write(finding: Finding): string;
}

/** @throws PaymentFileError for a workbook */
export function createFindingWriter(format: OutputFormat, fileName: string): FindingWriter {
  if (format === 'xlsx') {
    throw new PaymentFileError(`${fileName} is an XML file, whose findings are written with --format json or csv`);
  }
  if (format === 'json') {
    return { begin: () => '', write: (finding) => `${JSON.stringify(toLine(fileName, finding))}\n` };
  }
  return {
    begin: () => stringify([findingTitles]),
    write(finding) {
      const line = toLine(fileName, finding);
      return stringify([findingTitles.map((title) => neutralize(String(line[title] ?? '')))]);
    },
  };
}

const findingTitles = ['file', 'code', 'severity', 'line', 'xpath', 'message', 'suggestion'] as const;

function toLine(file: string, { code, severity, place, message, suggestion }: Finding) {
  const { line, xpath } = 'xpath' in place ? place : { line: place.row, xpath: null };
  return { file, code, severity, line, xpath, message, suggestion };
}

function neutralizeCell(cell: Cell): Cell {
  return typeof cell === 'number' ? cell : neutralize(cell);
}

/**
 * A text that spreadsheets do not take for a formula gets an apostrophe before it: one that begins with = + - @ in any width, also after spaces and
 * invisible characters, or with a tab, a line break or another control character, which programs may leave out. Numbers such as -12.50 and phone
 * numbers such as +49 170 are unchanged.
 * @example
 * neutralize('=HYPERLINK("http://example.com")') // => "'=HYPERLINK(\"http://example.com\")"
 * neutralize('-12.50') // => '-12.50'
 */
export function neutralize(text: string): string {
  return formula.test(text) && !number.test(text) ? `'${text}` : text;
}

/** Signs of normal, small (U+FE62 to U+FE6B) and full width (U+FF0B to U+FF20). */
const formula =
  /^(?:[\p{Cc}\p{Zl}\p{Zp}]|[\s\p{Cf}]*[=+\-@\u{FE62}\u{FE63}\u{FE66}\u{FE6B}\u{FF0B}\u{FF0D}\u{FF1D}\u{FF20}])/u;
const number = /^ *[+-][., ']*\d[\d.,' ]*%?$/;
