import { buffer } from 'node:stream/consumers';
import { CsvError } from 'csv-parse';
import { createCsvParser } from '../base/csv-parser.ts';
import { decodeText } from '../base/decode-text.ts';
import { limitBytes, replay } from '../base/input-file.ts';
import { count } from '../base/process/terminal.ts';
import { readWorkbook } from '../base/read-workbook.ts';
import { findSingleByteEncoding, type TextEncoding } from './encodings.ts';
import { type Cells, isOnlyIban, looksLikeIban } from './iban-cells.ts';
import { type PaymentFile, PaymentFileError } from './open-file.ts';

export interface Table {
  /** The sheet of a workbook; null for a text. */
  sheet: string | null;
  isHidden: boolean;
  /** All rows in their order, blank ones included, in groups: the n-th row is row n of the table. Can be read once. */
  groups: AsyncIterable<readonly Cells[]>;
  /** How the text of the file is written, as far as it was read. */
  style: TextStyle;
}

export interface TextStyle {
  delimiter: string;
  lineEnd: '\n' | '\r\n';
  /** Whether programs recognize the encoding only with a byte order mark, as Excel does. */
  hasByteOrderMark: boolean;
  /** Null for a workbook. */
  encoding: TextEncoding | null;
}

/**
 * The rows of a delimiter-separated text, or those of each sheet of a workbook.
 * @param encoding of a text; null: recognized
 * @throws PaymentFileError
 */
export async function readTables(
  file: PaymentFile,
  encoding: TextEncoding | null = null,
): Promise<readonly [Table, ...Table[]]> {
  if (file.kind !== 'workbook') return [await readTextTable(file, encoding)];
  const [first, ...others] = await readSheets(file);
  if (first === undefined) throw new PaymentFileError(`${file.name} has no sheets`);
  return [first, ...others];
}

/** An archive is read in memory: three times what a million rows take. */
const maxWorkbookBytes = 128_000_000;

async function readSheets({ name, size, chunks }: PaymentFile): Promise<Table[]> {
  const tooLarge = () =>
    new PaymentFileError(
      `${name} has more than ${maxWorkbookBytes / 1_000_000} MB, the limit for a workbook; save it as CSV, which has no limit`,
    );
  if (size !== null && size > maxWorkbookBytes) throw tooLarge();
  const archive = await buffer(limitBytes(chunks, maxWorkbookBytes, tooLarge));
  const style = { delimiter: ',', lineEnd: '\n', hasByteOrderMark: true, encoding: null } as const;
  return (await readWorkbook({ name, archive, ErrorType: PaymentFileError, limits: workbookLimits })).map(
    ({ name: sheet, isHidden, rows }) => ({ sheet, isHidden, groups: groupRows(rows()), style }),
  );
}

/** Each cell of a row is searched for IBANs, BICs and names. */
const maxColumns = 1_000;

/** Rows are streamed, so only the texts in memory have a limit of ours; that of rows is Excel's. */
const workbookLimits = {
  unpackedMb: Number.POSITIVE_INFINITY,
  sharedMillionCharacters: 256,
  sheetMillionCharacters: Number.POSITIVE_INFINITY,
  rows: 1_048_576,
  columns: maxColumns,
};

async function* groupRows(rows: AsyncIterable<Cells>): AsyncGenerator<readonly Cells[]> {
  let group: Cells[] = [];
  for await (const cells of rows) {
    group.push(cells);
    if (group.length < maxGroupRows) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

const maxGroupRows = 200;

async function readTextTable(file: PaymentFile, named: TextEncoding | null): Promise<Table> {
  const start = await decodeStart(file, named);
  const { pieces, encoding } = decodeTable(file, named);
  const style: TextStyle = {
    delimiter: await findDelimiter(start),
    lineEnd: start.includes('\r\n') ? '\r\n' : '\n',
    get hasByteOrderMark() {
      return encoding() !== 'utf-8' || file.start.subarray(0, 3).toString('hex') === utf8Mark;
    },
    get encoding() {
      return encoding();
    },
  };
  const parsing = { name: file.name, delimiter: style.delimiter, columns: maxColumns };
  return { sheet: null, isHidden: false, groups: parseRows(pieces, parsing), style };
}

/** Decodes a table. Reading it rejects with a PaymentFileError for bytes of another encoding. */
function decodeTable(file: Pick<PaymentFile, 'name' | 'start' | 'chunks'>, named: TextEncoding | null) {
  const isUtf8 = named === 'utf-8' ? 'is not in UTF-8: --encoding names another encoding' : null;
  const mixed = 'begins in UTF-8, but has bytes that are not UTF-8; save it in one encoding, such as UTF-8';
  const createError = () => new PaymentFileError(`${file.name} ${isUtf8 ?? mixed}`);
  return decodeText<TextEncoding>(file, { named, other: findSingleByteEncoding, createError });
}

const utf8Mark = 'efbbbf';

async function decodeStart({ name, start: whole }: PaymentFile, named: TextEncoding | null): Promise<string> {
  const start = whole.subarray(0, sampleBytes);
  let text = '';
  try {
    for await (const piece of decodeTable({ name, start, chunks: replay([start]) }, named).pieces) text += piece;
  } catch (error) {
    // The sample may end within a character. Other bytes are reported when the whole file is decoded.
    if (!(error instanceof PaymentFileError)) throw error;
  }
  return text;
}

/**
 * The delimiter with which most cells are IBANs; if they are as many, the one with which most rows have as many cells as the first
 * row. A delimiter that no row has is not taken if another makes a table: it would make rows of the lines of a quoted cell. Excel names it in a first
 * line `sep=;`.
 */
async function findDelimiter(start: string): Promise<string> {
  const named = /^sep=([^\r\n])\r?\n/.exec(start)?.[1];
  if (named !== undefined) return named;
  const found: { delimiter: string; ibans: number; regular: number; isTable: boolean }[] = [];
  for (const delimiter of delimiters) {
    const rows = await parseStart(start, delimiter);
    const ibans = rows.reduce((sum, row) => sum + row.filter(isOnlyIban).length, 0);
    const width = rows.find((row) => row.length > 1)?.length ?? 0;
    const regular = width === 0 ? 0 : rows.filter((row) => row.length === width).length;
    found.push({ delimiter, ibans, regular, isTable: regular * 2 > rows.length });
  }
  const used = found.filter(({ regular }) => regular > 0);
  const candidates = used.some(({ isTable }) => isTable) ? used : found;
  const [best] = candidates.toSorted((one, other) => other.ibans - one.ibans || other.regular - one.regular);
  return best?.delimiter ?? ',';
}

/** About a hundred rows. */
const sampleBytes = 8_192;
const delimiters = [',', ';', '\t', '|'];

/** The first rows of a text. The last one is left out: it may be cut off. So is one with a quotation mark that is not closed there. */
async function parseStart(text: string, delimiter: string): Promise<readonly Cells[]> {
  const rows: Cells[] = [];
  const parsing = { name: '', delimiter, columns: sampleBytes };
  try {
    for await (const group of parseRows([text], parsing)) rows.push(...group);
  } catch (error) {
    if (!(error instanceof PaymentFileError)) throw error;
  }
  return rows.length > 1 ? rows.slice(0, -1) : rows;
}

/** IBANs on separate lines of one cell, such as those of an old and a new account. */
const maxIbanLines = 3;

interface ParseOptions {
  /** For messages. */
  name: string;
  delimiter: string;
  /** Maximum number of cells in a row. */
  columns: number;
}

/** The rows in groups, each of a piece of the text. @throws PaymentFileError after the last right row */
async function* parseRows(
  pieces: AsyncIterable<string> | Iterable<string>,
  { name, delimiter, columns }: ParseOptions,
): AsyncGenerator<readonly Cells[]> {
  const parse = createCsvParser<Cells>({
    record_delimiter: ['\r\n', '\n', '\r'],
    // It permits one more.
    max_record_size: maxRowBytes - 1,
    delimiter,
    // The last cell of a longer row has all the rest.
    ignore_last_delimiters: columns + 1,
  });
  let rowsRead = 0;
  /** The line of the last row, from 1: a cell may have line breaks. */
  let line = 0;
  /** The number of cells of the longest row. */
  let width = 0;

  for await (const piece of pieces) {
    const bytes = Buffer.from(piece);
    for (let at = 0; at < bytes.length; at += pieceBytes) yield* parsePiece(bytes.subarray(at, at + pieceBytes));
  }
  yield* parsePiece(null);

  async function* parsePiece(piece: Buffer | null): AsyncGenerator<readonly Cells[]> {
    const { rows, failure } = await parse(piece);
    for (const [index, row] of rows.entries()) {
      rowsRead += 1;
      const problem = row.length > columns ? tooManyColumns(name, rowsRead) : findSwallowedRows(row);
      if (problem === null) continue;
      if (index > 0) yield rows.slice(0, index);
      throw problem;
    }
    if (rows.length > 0) yield rows;
    if (failure !== null) throw describe(failure);
  }

  /** A quotation mark too many makes one cell of rows. */
  function findSwallowedRows(row: Cells): PaymentFileError | null {
    width = Math.max(width, row.length);
    line += 1;
    const start = line;
    for (const cell of row) {
      if (typeof cell !== 'string' || !/[\r\n]/.test(cell)) continue;
      const lines = cell.split(/\r\n|[\r\n]/);
      line += lines.length - 1;
      if (!hasRows(lines)) continue;
      const problem = 'a cell that begins with a quotation mark has rows of the table in it';
      const place = start === rowsRead ? `row ${count(rowsRead)}` : `row ${count(rowsRead)} in line ${count(start)}`;
      return new PaymentFileError(
        `${name}, ${place}: ${problem}; remove the quotation mark, or close it in the same line`,
      );
    }
    return null;
  }

  function hasRows(lines: readonly string[]): boolean {
    const rows = lines.map((text) => text.split(delimiter));
    const withIban = rows.filter((cells) => cells.some((cell) => looksLikeIban(cell.replaceAll('"', ''))));
    // Lines of an address may have a delimiter, but not as many as rows have, again and again.
    const whole = rows.slice(1).filter(({ length }) => length > 2 && length >= width);
    // Rows of a table with several columns have delimiters: a few lines with nothing but an IBAN belong to one cell.
    const most = width > 1 ? maxIbanLines : 1;
    return withIban.some(({ length }) => length > 1) || withIban.length > most || whole.length > 2;
  }

  function describe(error: Error): Error {
    if (!(error instanceof CsvError)) return error;
    const place = `${name}, row ${count(rowsRead + 1)}`;
    if (error.code !== 'CSV_MAX_RECORD_SIZE') {
      return new PaymentFileError(`${place}: a quotation mark is opened and never closed`);
    }
    if (Number(error.column) >= columns) return tooManyColumns(name, rowsRead + 1);
    const limit = `more than ${count(maxRowBytes)} bytes, the limit for a row`;
    return new PaymentFileError(`${place}: ${limit}; a quotation mark may be opened and never closed`);
  }
}

function tooManyColumns(name: string, row: number): PaymentFileError {
  const limit = `more than ${count(maxColumns)} columns, the limit for a table`;
  return new PaymentFileError(`${name}, row ${count(row)}: ${limit}; remove columns that are not needed`);
}

/** Larger groups of rows would take 20 MB more while they wait for answers. */
const pieceBytes = 8_192;

/** Far beyond what a payee needs. */
const maxRowBytes = 100_000;
