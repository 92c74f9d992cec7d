import { stringify } from 'csv-stringify/sync';
import { count, shorten } from '../base/process/terminal.ts';
import { isValidIban } from '../iban/iban.ts';
import type { CheckedRow } from './check-tables.ts';
import { type Columns, columnLetters, resultTitles } from './find-columns.ts';
import type { AboutPayment, Change, Finding, MessageFinding } from './finding.ts';
import type { Cell } from './iban-cells.ts';
import type { CellResult, RowResult } from './judge-row.ts';
import { PaymentFileError } from './open-file.ts';
import type { MessageSummary } from './pain/check-message.ts';
import type { TextStyle } from './read-rows.ts';
import { summarizeMessage } from './tally.ts';

export const outputFormats = ['csv', 'xlsx', 'json'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The next part of the output: rows of the input, with columns for what was found out. */
type WriteRows = (rows: readonly CheckedRow[]) => string;

interface RowWriterOptions {
  fileName: string;
  /** The sheet of a workbook of which several are checked. */
  sheet?: string | null;
  columns: Columns;
  style: TextStyle;
}

export function createRowWriter(
  format: 'csv' | 'json',
  { fileName, sheet = null, columns, style }: RowWriterOptions,
): WriteRows {
  if (format === 'csv') return createCsvWriter(columns, style, sheet);
  return (rows) => rows.flatMap((row) => toJsonLine(fileName, sheet, row, columns)).join('');
}

/** UTF-8, with the delimiter and the line ends of the input. The rows of a sheet follow a row with its name. */
function createCsvWriter(
  columns: Columns,
  { delimiter, lineEnd, hasByteOrderMark }: TextStyle,
  sheet: string | null,
): WriteRows {
  // The delimiters between missing cells are one text: a table with a thousand titles may have rows of one cell.
  const object = ({ missing }: Record<string, unknown>) => ({
    value: delimiter.repeat(Number(missing) - 1),
    quote: '',
  });
  const options = { delimiter, record_delimiter: lineEnd, cast: { object } };
  let start = (hasByteOrderMark ? '\uFEFF' : '') + (sheet === null ? '' : stringify([[neutralize(sheet)]], options));
  return (rows) => {
    const lines = rows.map((row) => {
      const { own, missing, others } = extendRow(row, columns);
      return missing === 0 ? [...own, ...others] : [...own, { missing }, ...others];
    });
    const text = start + stringify(lines, options);
    start = '';
    return text;
  };
}

/** A workbook is created in memory. */
export function createWorkbookWriter() {
  const sheets: { sheet: string; data: (Cell | null)[][]; stickyRowsCount: number }[] = [];
  let rows = 0;
  return {
    /** What adds rows has no output before the end. It throws a PaymentFileError for too many rows. */
    addSheet({ sheet, columns }: { sheet: string | null; columns: Columns }): WriteRows {
      const data: (Cell | null)[][] = [];
      sheets.push({ sheet: sheet ?? 'Checked', data, stickyRowsCount: columns.titleRow ?? 0 });
      return (checked) => {
        for (const row of checked) {
          const { own, missing, others } = extendRow(row, columns);
          const cells = [...own, ...Array<Cell>(missing).fill(''), ...others];
          data.push(cells.map((value) => (value === '' ? null : value)));
        }
        rows += checked.length;
        if (rows > maxWrittenRows) throw tooManyRows();
        return '';
      };
    },
    async end(): Promise<Buffer> {
      // Loaded only here.
      const { default: writeWorkbook } = await import('write-excel-file/node');
      return writeWorkbook(sheets).toBuffer();
    },
  };
}

export const maxWrittenRows = 100_000;

export function tooManyRows(): PaymentFileError {
  return new PaymentFileError(
    `a workbook can have ${count(maxWrittenRows)} rows, and there are more; use --format csv`,
  );
}

function addedCells(
  result: CellResult,
  others: readonly Finding[],
): Readonly<Record<(typeof resultTitles)[number], string>> {
  const { status, findings, suggestions, bank, bic, bicMatch, nationalCheck, iban } = result;
  const problems = [...new Set([...findings, ...others].map(({ code }) => code))].join(' ');
  const suggestion = suggestions.join(' ');
  return { status, problems, suggestion, bank, bic, bic_match: bicMatch, national_check: nationalCheck, iban };
}

/** A row that was not checked has no added cells, so it is as long as it was, without those of an earlier result. */
function extendRow({ cells, kind, result }: CheckedRow, { titles, ibans, earlierResult }: Columns) {
  const width = earlierResult ?? titles.length;
  const added = kind === 'titles' ? listTitles(ibans.length) : result === null ? [] : listCells(result);
  const [own, beyond] = [cells.slice(0, width), cells.slice(titles.length)];
  return {
    own: own.map(neutralizeCell),
    /** How many cells it has fewer than the table has columns. */
    missing: added.length === 0 ? 0 : width - own.length,
    /** The added cells, and those beyond the columns of the table. */
    others: [...added, ...beyond].map(neutralizeCell),
  };
}

function listTitles(ibanColumns: number): string[] {
  return Array.from({ length: ibanColumns }, (_, index) =>
    resultTitles.map((title) => (index === 0 ? title : `${title}_${index + 1}`)),
  ).flat();
}

/** What is about no column of IBANs is beside the first one. */
function listCells({ cells, findings }: RowResult): string[] {
  return cells.flatMap((cell, index) => Object.values(addedCells(cell, index === 0 ? findings : [])));
}

/** One object a line, only for rows that were checked. Cells are as in the input. */
function toJsonLine(
  file: string,
  sheet: string | null,
  { row, cells, result }: CheckedRow,
  columns: Columns,
): string[] {
  if (result === null) return [];
  const name = columns.name === null ? null : String(cells[columns.name] ?? '') || null;
  const [first, ...others] = result.cells;
  const line = {
    file,
    ...(sheet !== null && { sheet }),
    row,
    name,
    ...(first === undefined ? noCell(result.findings) : describeCell(first, result.findings, columns)),
    ...(others.length > 0 && { others: others.map((other) => describeCell(other, [], columns)) }),
    cells,
  };
  return [`${JSON.stringify(line)}\n`];
}

function describeCell(cell: CellResult, rowFindings: readonly Finding[], { ibans, titles }: Columns) {
  const { status, problems, ...texts } = addedCells(cell, rowFindings);
  const added = Object.fromEntries(Object.entries(texts).map(([title, text]) => [title, text || null]));
  const column = ibans.length > 1 ? { column: titles[cell.column] ?? columnLetters(cell.column) } : {};
  const findings = [...rowFindings, ...cell.findings];
  return { ...column, status, problems: problems.split(' ').filter(Boolean), ...added, findings };
}

function noCell(findings: readonly Finding[]) {
  return { status: 'NOT_CHECKED', problems: [...new Set(findings.map(({ code }) => code))], findings };
}

/**
 * Writes the findings of a payment message, one a line; `begin` before the first one, and `writeSummary` after the last one.
 * @param format `table`: for a terminal
 * @param hasChanges whether there are changes beside findings
 * @throws PaymentFileError for a workbook
 */
export function createFindingWriter(format: OutputFormat | 'table', fileName: string, { hasChanges = false } = {}) {
  if (format === 'xlsx') {
    throw new PaymentFileError(`${fileName} is an XML file, whose findings are written with --format json or csv`);
  }
  const common = { begin: () => '', writeSummary: (_: MessageSummary) => '' };
  if (format === 'table') return { ...common, ...createFindingTable(fileName) };
  if (format === 'json') {
    return {
      ...common,
      write: (finding: MessageFinding) => `${JSON.stringify(toLine(fileName, finding))}\n`,
      writeChange: (change: Change) => `${JSON.stringify({ file: fileName, ...change })}\n`,
      writeSummary: (summary: MessageSummary) =>
        `${JSON.stringify({ summary: { text: summarizeMessage(summary), ...summary } })}\n`,
    };
  }
  const titles: readonly string[] = hasChanges ? [...findingTitles, 'before', 'after'] : findingTitles;
  const writeCells = (line: Readonly<Record<string, unknown>>) =>
    stringify([titles.map((title) => neutralize(String(line[title] ?? '')))]);
  return {
    ...common,
    begin: () => stringify([titles]),
    write: (finding: MessageFinding) => writeCells(toLine(fileName, finding)),
    writeChange: (change: Change) => writeCells({ file: fileName, ...change }),
  };
}

const findingTitles = 'file code severity line xpath batch payee amount end_to_end_id message suggestion'.split(' ');

/** Of a finding about a whole batch, only that is known; of one about the file, nothing. */
function toLine(file: string, { code, severity, place, message, suggestion, about }: MessageFinding) {
  const texts = [about?.batch, about?.payee, about?.amount, about?.endToEndId].map((text) => text || null);
  const [batch, payee, amount, end_to_end_id] = texts;
  const payment = { batch, payee, amount, end_to_end_id };
  return { file, code, severity, ...place, ...payment, message: toWords(message), suggestion };
}

/** For people who pay and do not read XML: a line for each payment, and below it what is wrong, and what would be right. */
function createFindingTable(fileName: string) {
  let last: string | null = null;
  return {
    write({ severity, code, place, message, suggestion, about }: MessageFinding): string {
      const payment = namePayment(about);
      const titles = last === null ? `${fileName}\n${row(['LINE', 'PAYEE', 'AMOUNT', 'END-TO-END ID'])}` : '';
      const heading = titles + (payment.join(' ') === last ? '' : row(['', ...payment]));
      last = payment.join(' ');
      const found = row([String(place.line), `${severity}: ${toWords(message)}`]);
      const right = suggestion === null ? '' : `${indent}${labelOf(code, suggestion)}: ${suggestion}\n`;
      return `${heading}${found}${right}${indent}(${code})\n`;
    },
    writeChange({ line, before, after }: Change): string {
      return row([String(line), `changed: ${before} -> ${after}`]);
    },
  };
}

/** An IBAN that differs by one typing error is a guess; one that only had spaces is not. */
function labelOf(code: string, suggestion: string): string {
  if (code === 'PAYEE_NAME_SIMILAR') return 'The bank writes';
  return code !== 'IBAN_NOT_COMPACT' && isValidIban(suggestion) ? 'Perhaps meant (ask the payee)' : 'Right would be';
}

/** Sentences begin with the name of an element, if they are about one. */
function toWords(message: string): string {
  return message.replace(/^\w+(?= (?:has|is|must|of) )/, (name) =>
    words[name] ? `The ${words[name]} (${name})` : name,
  );
}

const words: Readonly<Record<string, string>> = {
  ...{ Nm: 'name', Ustrd: 'text for the payee', StrtNm: 'street', TwnNm: 'town', AdrLine: 'line of the address' },
  ...{ EndToEndId: 'end-to-end identification', PmtInfId: 'identification of the batch', ChrgBr: 'sharing of charges' },
  ...{ MsgId: 'identification of the message', NbOfTxs: 'number of payments', CtrlSum: 'sum of all amounts' },
};

const widths = [7, 36, 22, 0];
const indent = ' '.repeat(widths[0] ?? 0);

/** The last column, and the only one of a sentence, is as long as it is. */
function row(cells: readonly string[]): string {
  const padded = cells.map((cell, index) =>
    index === cells.length - 1 ? cell : shorten(cell, (widths[index] ?? 0) - 1).padEnd(widths[index] ?? 0),
  );
  return `${padded.join('').trimEnd()}\n`;
}

function namePayment(about: AboutPayment | undefined): string[] {
  if (about === undefined) return ['the whole file'];
  if (about.payee === null) return [`all payments of the batch ${about.batch}`];
  return [about.payee, about.amount, about.endToEndId].map((text) => text || '-');
}

function neutralizeCell(cell: Cell): Cell {
  return typeof cell === 'number' ? cell : neutralize(cell);
}

/**
 * A text that spreadsheets do not take for a formula gets an apostrophe before it: one that begins with = + - @ in any width, also after spaces and
 * invisible characters, or with a tab, a line break or another control character, which programs may leave out. Numbers such as -12.50 and phone
 * numbers such as +49 170 are unchanged.
 */
function neutralize(text: string): string {
  return formula.test(text) && !number.test(text) ? `'${text}` : text;
}

/** Signs of normal, small (U+FE62 to U+FE6B) and full width (U+FF0B to U+FF20). */
const formula =
  /^(?:[\p{Cc}\p{Zl}\p{Zp}]|[\s\p{Cf}]*[=+\-@\u{FE62}\u{FE63}\u{FE66}\u{FE6B}\u{FF0B}\u{FF0D}\u{FF1D}\u{FF20}])/u;
const number = /^ *[+-][., ']*\d[\d.,' ]*%?$/;
