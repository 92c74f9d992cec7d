import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CsvError, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import iconv from 'iconv-lite';
import { type Decode, decodeText } from '../decode-text.ts';
import { readWorkbook, WorkbookError } from '../workbooks/read-workbook.ts';
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

/** Streams the rows of a delimiter-separated text, or of the first sheet of a workbook that has rows. @throws PaymentFileError */
export async function readRows(file: PaymentFile): Promise<Rows> {
  return file.kind === 'workbook' ? readWorkbookRows(file) : readTextRows(file);
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

async function readTextRows(file: PaymentFile): Promise<Rows> {
  const encoding: { current: TextEncoding } = { current: 'utf-8' };
  const start = await decodeStart(file);
  const style: TextStyle = {
    delimiter: findDelimiter(start),
    lineEnd: start.includes('\r\n') ? '\r\n' : '\n',
    get hasByteOrderMark() {
      return encoding.current !== 'utf-8' || file.start.subarray(0, 3).toString('hex') === utf8Mark;
    },
  };
  const pieces = decodeTable(file, (found) => {
    encoding.current = found;
  });
  return { groups: parseRows(file.name, pieces, style.delimiter), style };
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
  for await (const piece of decodeTable({ name, start, chunks })) text += piece;
  return text;
}

/** The first rows of a text. The last one is left out: it may be cut off. So is one with a quotation mark that is not closed there. */
function parseStart(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  const onRecord = (cells: string[]) => {
    rows.push(cells);
    return null;
  };
  try {
    parseText(text, { ...parseOptions, delimiter, on_record: onRecord });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
  }
  return rows.length > 1 ? rows.slice(0, -1) : rows;
}

/**
 * The delimiter with which most cells are IBANs; if they are as many, the one with which most rows have as many cells as the first
 * row. Excel names it in a first line `sep=;`.
 */
function findDelimiter(start: string): string {
  const named = /^sep=([^\r\n])\r?\n/.exec(start)?.[1];
  if (named !== undefined) return named;
  let best = { delimiter: ',', ibans: -1, regular: -1 };
  for (const delimiter of delimiters) {
    const rows = parseStart(start, delimiter);
    const ibans = rows.reduce((sum, row) => sum + findIbanCells(row).length, 0);
    const width = rows.find((row) => row.length > 1)?.length ?? 0;
    const regular = width === 0 ? 0 : rows.filter((row) => row.length === width).length;
    if (ibans > best.ibans || (ibans === best.ibans && regular > best.regular)) best = { delimiter, ibans, regular };
  }
  return best.delimiter;
}

/** About a hundred rows; more would take too much of the event loop in one go. */
const sampleBytes = 8_192;
const delimiters = [',', ';', '\t', '|'];

const parseOptions = {
  record_delimiter: ['\r\n', '\n', '\r'],
  // The number of cells is checked later, with the number of the row.
  relax_column_count: true,
  // Many programs do not quote, and texts contain quotation marks.
  relax_quotes: true,
  // Only a quotation mark that is never closed makes a row this long.
  max_record_size: 1_000_000,
};

async function* parseRows(
  name: string,
  pieces: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<readonly Cells[]> {
  let rows: Cells[] = [];
  let count = 0;
  const parser = parse({
    ...parseOptions,
    delimiter,
    // Collected here: at a failure, the parser drops the rows that have not been read yet.
    on_record(cells: string[]) {
      count += 1;
      rows.push(cells);
      return null;
    },
  });
  const failure: { error: unknown } = { error: null };
  parser.on('error', (error) => {
    failure.error = error;
  });
  // Nothing is read from it, as all records are taken above.
  parser.resume();
  const take = () => {
    const taken = rows;
    rows = [];
    return taken;
  };
  for await (const piece of pieces) {
    if (!parser.write(piece)) await new Promise((resolve) => parser.once('drain', resolve).once('error', resolve));
    if (failure.error !== null) break;
    yield* group(take());
  }
  if (failure.error === null) await new Promise((resolve) => parser.once('end', resolve).once('error', resolve).end());
  yield* group(take());
  const { error } = failure;
  if (error instanceof CsvError) {
    throw new PaymentFileError(`${name}, row ${count + 1}: a quotation mark is opened and never closed`);
  }
  if (error !== null) throw error;
}
