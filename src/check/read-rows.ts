import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CsvError, parse } from 'csv-parse';
import iconv from 'iconv-lite';
import { type InTimeSlice, runAtOnce } from '../base/async/time-slices.ts';
import { type Decode, decodeText } from '../base/decode-text.ts';
import { count } from '../base/process/terminal.ts';
import { readWorkbook, WorkbookError } from '../base/read-workbook.ts';
import { type Cells, findIbanCells } from './find-columns.ts';
import { type PaymentFile, PaymentFileError } from './open-file.ts';

export interface Rows {
  /** All rows of the file in their order, blank ones included, in groups of at most 200: the n-th row is row n of the file. */
  groups: AsyncIterable<readonly Cells[]>;
  /** How the text of the file is written, as far as it was read. */
  style: TextStyle;
}

export interface TextStyle {
  delimiter: string;
  lineEnd: '\n' | '\r\n';
  /** Whether programs recognize the encoding only with a byte order mark, as Excel does. */
  hasByteOrderMark: boolean;
}

interface TableLimits {
  rows: number;
  /** Of all rows together. A blank row has one. */
  cells: number;
}

interface ReadOptions {
  /** Of a text; without them, its rows are streamed without an end. */
  limits?: TableLimits;
  /** For a process that has other work, too. */
  inTimeSlice?: InTimeSlice;
}

/** Streams the rows of a delimiter-separated text, or of the first sheet of a workbook that has rows. @throws PaymentFileError */
export async function readRows(file: PaymentFile, { limits = noLimits, inTimeSlice = runAtOnce }: ReadOptions = {}) {
  return file.kind === 'workbook' ? readWorkbookRows(file) : readTextRows(file, { limits, inTimeSlice });
}

const noLimits: TableLimits = { rows: Number.POSITIVE_INFINITY, cells: Number.POSITIVE_INFINITY };

/** Of a row, in texts and workbooks: each is searched for IBANs, BICs and names. */
const maxColumns = 1_000;

function tooManyColumns(name: string, row: number): PaymentFileError {
  const limit = `more than ${count(maxColumns)} columns, the limit for a table`;
  return new PaymentFileError(`${name}, row ${count(row)}: ${limit}; remove columns that are not needed`);
}

/** A workbook is unpacked in memory. */
export const maxWorkbookRows = 100_000;

const workbookLimits = {
  unpackedMb: 128,
  rows: maxWorkbookRows,
  cells: 3_000_000,
  tags: 12_000_000,
  millionCharacters: 128,
};

/** Ten times what a workbook of that many rows takes. */
const maxWorkbookBytes = 64_000_000;

async function readWorkbookRows({ name, size, chunks }: PaymentFile): Promise<Rows> {
  const tooLarge = () =>
    new PaymentFileError(
      `${name} has more than ${maxWorkbookBytes / 1_000_000} MB, the limit for a workbook; save it as CSV, which has no limit`,
    );
  if (size !== null && size > maxWorkbookBytes) throw tooLarge();
  try {
    const archive = await buffer(limitBytes(chunks, tooLarge));
    const sheets = await readWorkbook(name, archive, workbookLimits);
    for (const { rows } of sheets) {
      const all = [...withBlankRows(rows)];
      // All rows are as long as the longest one.
      const wide = all.findIndex((cells) => cells.findLastIndex((cell) => cell !== '') >= maxColumns);
      if (wide >= 0) throw tooManyColumns(name, wide + 1);
      const style = { delimiter: ',', lineEnd: '\n', hasByteOrderMark: true } as const;
      if (all.length > 0) return { groups: Readable.from(group(all)), style };
    }
  } catch (error) {
    if (!(error instanceof WorkbookError)) throw error;
    const advice = /limit for a (workbook|sheet)/.test(error.message) ? '; save it as CSV, which has no limit' : '';
    throw new PaymentFileError(error.message + advice);
  }
  throw new PaymentFileError(`${name} has no rows`);
}

async function* limitBytes(chunks: AsyncIterable<Buffer>, tooLarge: () => Error): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxWorkbookBytes) throw tooLarge();
    yield chunk;
  }
}

function* withBlankRows(rows: Iterable<{ cells: Cells; line: number }>): Generator<Cells> {
  let next = 1;
  for (const { cells, line } of rows) {
    for (; next < line; next += 1) yield [];
    yield cells;
    next += 1;
  }
}

function* group(rows: readonly Cells[]): Generator<readonly Cells[]> {
  for (let at = 0; at < rows.length; at += groupRows) yield rows.slice(at, at + groupRows);
}

/** More would take too much of the event loop in one go. */
const groupRows = 200;

async function readTextRows(file: PaymentFile, { limits, inTimeSlice }: Required<ReadOptions>): Promise<Rows> {
  const encoding: { current: TextEncoding } = { current: 'utf-8' };
  const start = await decodeStart(file);
  const style: TextStyle = {
    delimiter: await findDelimiter(start, inTimeSlice),
    lineEnd: start.includes('\r\n') ? '\r\n' : '\n',
    get hasByteOrderMark() {
      return encoding.current !== 'utf-8' || file.start.subarray(0, 3).toString('hex') === utf8Mark;
    },
  };
  const pieces = decodeTable(file, (found) => {
    encoding.current = found;
  });
  const parser = createRowParser({ name: file.name, delimiter: style.delimiter, columns: maxColumns, limits });
  return { groups: parser.parse(pieces, inTimeSlice), style };
}

type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Decodes a table in UTF-8, UTF-16 or Windows-1252. @throws PaymentFileError for bytes of another encoding */
function decodeTable(
  file: Pick<PaymentFile, 'name' | 'start' | 'chunks'>,
  onEncoding: (encoding: TextEncoding) => void = () => {},
): AsyncGenerator<string> {
  return decodeText(file, 'windows-1252', (encoding): Decode => {
    onEncoding(encoding);
    if (encoding !== 'utf-8') {
      const decoder = iconv.getDecoder(encoding);
      return (bytes) => (bytes === undefined ? (decoder.end() ?? '') : decoder.write(bytes));
    }
    const decoder = new TextDecoder('utf-8', { fatal: true });
    return (bytes) => {
      try {
        return decoder.decode(bytes, { stream: bytes !== undefined });
      } catch {
        throw new PaymentFileError(
          `${file.name} begins in UTF-8, but has bytes that are not UTF-8; save it in one encoding, such as UTF-8`,
        );
      }
    };
  });
}

const utf8Mark = 'efbbbf';

async function decodeStart({ name, start: whole }: PaymentFile): Promise<string> {
  const start = whole.subarray(0, sampleBytes);
  const chunks = Readable.from([start], { objectMode: true });
  let text = '';
  try {
    for await (const piece of decodeTable({ name, start, chunks })) text += piece;
  } catch (error) {
    // The sample may end within a character. Other bytes are reported when the whole file is decoded.
    if (!(error instanceof PaymentFileError)) throw error;
  }
  return text;
}

/**
 * The delimiter with which most cells are IBANs; if they are as many, the one with which most rows have as many cells as the first
 * row. Excel names it in a first line `sep=;`.
 */
async function findDelimiter(start: string, inTimeSlice: InTimeSlice): Promise<string> {
  const named = /^sep=([^\r\n])\r?\n/.exec(start)?.[1];
  if (named !== undefined) return named;
  let best = { delimiter: ',', ibans: -1, regular: -1 };
  for (const delimiter of delimiters) {
    const rows = await parseStart(start, delimiter, inTimeSlice);
    const ibans = await inTimeSlice(() => rows.reduce((sum, row) => sum + findIbanCells(row).length, 0));
    const width = rows.find((row) => row.length > 1)?.length ?? 0;
    const regular = width === 0 ? 0 : rows.filter((row) => row.length === width).length;
    if (ibans > best.ibans || (ibans === best.ibans && regular > best.regular)) best = { delimiter, ibans, regular };
  }
  return best.delimiter;
}

/** About a hundred rows. */
const sampleBytes = 8_192;
const delimiters = [',', ';', '\t', '|'];

/** The first rows of a text. The last one is left out: it may be cut off. So is one with a quotation mark that is not closed there. */
async function parseStart(text: string, delimiter: string, inTimeSlice: InTimeSlice): Promise<readonly Cells[]> {
  const rows: Cells[] = [];
  const parser = createRowParser({ name: '', delimiter, columns: sampleBytes, limits: noLimits });
  try {
    for await (const group of parser.parse([text], inTimeSlice)) rows.push(...group);
  } catch (error) {
    if (!(error instanceof PaymentFileError)) throw error;
  }
  return rows.length > 1 ? rows.slice(0, -1) : rows;
}

interface RowParserOptions {
  /** For messages. */
  name: string;
  delimiter: string;
  /** Maximum number of cells in a row. */
  columns: number;
  limits: TableLimits;
}

function createRowParser({ name, delimiter, columns, limits }: RowParserOptions) {
  const parser = parse({
    record_delimiter: ['\r\n', '\n', '\r'],
    // The number of cells is checked later, with the number of the row.
    relax_column_count: true,
    // Many programs do not quote, and texts contain quotation marks.
    relax_quotes: true,
    // It permits one more.
    max_record_size: maxRowBytes - 1,
    delimiter,
    // The last cell of a longer row has all the rest.
    ignore_last_delimiters: columns + 1,
  });
  // The calls that cause errors receive them, too.
  parser.on('error', () => {});
  // Each row that is not as long as the first one would create an error with its stack, in a hundred times the time of the row itself.
  Object.defineProperty(parser.info, 'records', { get: () => 0, set() {} });
  const read = { rows: 0, cells: 0 };

  return {
    /** The rows in groups, each of a kilobyte of the text and at most 200. @throws PaymentFileError after the last right row */
    async *parse(
      pieces: AsyncIterable<string> | Iterable<string>,
      inTimeSlice: InTimeSlice,
    ): AsyncGenerator<readonly Cells[]> {
      for await (const bytes of cut(pieces)) {
        const { rows, failure } = await inTimeSlice(() => parsePiece(bytes));
        yield* group(rows);
        if (failure !== null) throw failure;
      }
    },
  };

  /** @param bytes null at the end of the text */
  async function parsePiece(bytes: Buffer | null): Promise<{ rows: readonly Cells[]; failure: Error | null }> {
    const parsed = new Promise<Error | null | undefined>((resolve) => {
      if (bytes === null) parser.end(() => resolve(parser.errored));
      else parser.write(bytes, resolve);
    });
    const rows: Cells[] = [];
    // The parser ends a piece when its rows were taken.
    takeRows(rows);
    const error = await parsed;
    takeRows(rows);
    const excess = rows.findIndex(isExcess);
    if (excess >= 0) return { rows: rows.slice(0, excess), failure: describeExcess(rows[excess] ?? []) };
    return { rows, failure: error ? describe(error) : null };
  }

  function takeRows(taken: Cells[]): void {
    for (let row: Cells | null = parser.read(); row !== null; row = parser.read()) taken.push(row);
  }

  function isExcess(row: Cells): boolean {
    read.rows += 1;
    read.cells += row.length;
    return row.length > columns || read.rows > limits.rows || read.cells > limits.cells;
  }

  function describeExcess({ length }: Cells): PaymentFileError {
    if (length > columns) return tooManyColumns(name, read.rows);
    return tooMany(read.rows > limits.rows ? `${count(limits.rows)} rows` : `${count(limits.cells)} cells`);
  }

  function tooMany(what: string): PaymentFileError {
    return new PaymentFileError(`${name} has more than ${what}, the limit for one file; send it in parts`);
  }

  function describe(error: Error): Error {
    if (!(error instanceof CsvError)) return error;
    const place = `${name}, row ${count(read.rows + 1)}`;
    if (error.code !== 'CSV_MAX_RECORD_SIZE') {
      return new PaymentFileError(`${place}: a quotation mark is opened and never closed`);
    }
    if (Number(error.column) >= columns) return tooManyColumns(name, read.rows + 1);
    const limit = `more than ${count(maxRowBytes)} bytes, the limit for a row`;
    return new PaymentFileError(`${place}: ${limit}; a quotation mark may be opened and never closed`);
  }
}

/** Far beyond what a payee needs. */
const maxRowBytes = 100_000;

/** Parsed in one go: at most 512 rows or a thousand cells. */
const pieceBytes = 1_024;

/** Null after the last one. */
async function* cut(pieces: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Buffer | null> {
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece);
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  yield null;
}
