import { isAscii } from 'node:buffer';
import { Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import iconv from 'iconv-lite';
import { type BankFile, ImportError, type Row } from './bank-file.ts';
import { cellText, type Layout, type TextEncoding } from './bank-file-format.ts';

/** Streams the rows of a text file. @throws ImportError */
export function readTextRows(file: BankFile, layout: Exclude<Layout, { kind: 'workbook' }>): AsyncIterable<Row> {
  const text = decodeText(file, layout.encoding);
  const lines = readLines(file, text, layout.encoding);
  return layout.kind === 'csv' ? csvRows(file, lines, layout.separator) : fixedWidthRows(file, lines, layout.widths);
}

/** Ten times the longest row of an official file. */
const maxLineLength = 10_000;

/** Ten times the rows of the largest official file. */
const maxLines = 150_000;

/** @throws ImportError for bytes of another encoding, a line that is too long, or too many lines */
async function* readLines(
  { name }: BankFile,
  text: AsyncIterable<string>,
  encoding: TextEncoding,
): AsyncGenerator<string> {
  let line = 0;
  let rest = '';
  for await (const piece of text) {
    // A \r at the end may be the first half of \r\n.
    const parts = (rest + piece).split(/\r\n|\n|\r(?=[\s\S])/);
    rest = parts.pop() ?? '';
    for (const part of parts) yield check(part);
    if (rest.length > maxLineLength) check(rest);
  }
  if (rest !== '') yield check(rest.replace(/\r$/, ''));

  function check(content: string): string {
    line += 1;
    if (line > maxLines) {
      throw new ImportError(`${name} has more than ${maxLines.toLocaleString('en')} lines, the limit for a bank file`);
    }
    const invalid = (problem: string) => new ImportError(`${name}, line ${line}: ${problem}`);
    if (content.includes(undecodable)) {
      throw invalid(`bytes that are not ${encoding}; import the downloaded file unchanged`);
    }
    if (content.length > maxLineLength) {
      throw invalid(`more than ${maxLineLength.toLocaleString('en')} characters, the limit for a line`);
    }
    return content;
  }
}

/** Decoders replace invalid bytes with it. */
const undecodable = '\ufffd';

async function* csvRows({ name }: BankFile, lines: AsyncIterable<string>, separator: string): AsyncGenerator<Row> {
  let lastLine = 0;
  const parser = parse({
    delimiter: separator,
    bom: true,
    // The number of columns is checked later, with a better message.
    relax_column_count: true,
    // Most of these files do not quote, and contain names such as `Bank "Rolnik"`.
    relax_quotes: true,
    skip_empty_lines: true,
    // In bytes of UTF-8; only a quoted cell that contains line breaks can exceed it.
    max_record_size: maxLineLength * 4,
    info: true,
    // Called while parsing: at a failure, the rows before it may not have been read yet.
    on_record(record, { lines }) {
      lastLine = lines;
      return record;
    },
  });
  // A failure of the text destroys the parser too, so that the loop below throws it.
  const source = Readable.from(withLineBreaks(lines)).on('error', (error) => parser.destroy(error));
  const records: AsyncIterable<{ record: string[]; info: Info }> = source.pipe(parser);
  try {
    for await (const { record, info } of records) {
      if (record.some((cell) => cellText(cell) !== '')) yield { cells: record, line: info.lines };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The options above leave no other reason.
    throw new ImportError(`${name}, line ${lastLine + 1}: a quotation mark is opened and never closed`);
  } finally {
    source.destroy();
  }
}

async function* withLineBreaks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

async function* fixedWidthRows(
  { name }: BankFile,
  lines: AsyncIterable<string>,
  widths: readonly number[],
): AsyncGenerator<Row> {
  const width = widths.reduce((sum, next) => sum + next, 0);
  let line = 0;
  for await (const content of lines) {
    line += 1;
    if (content.trim() === '') continue;
    if (content.length !== width && content.length !== width + ibanRuleLength) {
      const characters = content.length === 1 ? 'character' : 'characters';
      throw new ImportError(`${name}, line ${line}: ${content.length} ${characters}; a row of this file has ${width}`);
    }
    yield { cells: cut(content, widths), line };
  }
}

/** In the extended file of the Bundesbank, each row ends with an IBAN rule. */
const ibanRuleLength = 6;

function cut(content: string, widths: readonly number[]): string[] {
  let at = 0;
  return widths.map((width) => {
    at += width;
    return content.slice(at - width, at);
  });
}

/** Decodes a text file in chunks. @throws ImportError as soon as it is clear that the file has another encoding or is not text */
async function* decodeText({ name, start, chunks }: BankFile, encoding: TextEncoding): AsyncGenerator<string> {
  const problem = findStartProblem(start, encoding);
  if (problem) throw new ImportError(`${name} ${problem}`);

  const decoder = iconv.getDecoder(encoding);
  let onlyAscii = true;
  for await (const chunk of chunks) {
    if (onlyAscii && singleByte.has(encoding) && hasUtf8Characters(chunk)) {
      throw new ImportError(
        `${name} is in UTF-8, but the original is in ${encoding}; import the downloaded file unchanged`,
      );
    }
    onlyAscii &&= isAscii(chunk);
    yield decoder.write(chunk);
  }
  yield decoder.end() ?? '';
}

const singleByte: ReadonlySet<TextEncoding> = new Set(['windows-1250', 'windows-1252', 'iso-8859-1', 'cp852']);

function findStartProblem(start: Buffer, encoding: TextEncoding): string | null {
  if (start.subarray(0, 2).toString('latin1') === 'PK') return 'is a workbook or an archive; expected a text file';
  const mark = start.subarray(0, 2).toString('hex');
  const isUtf16 = mark === 'fffe' || mark === 'feff';
  if (isUtf16 && encoding !== 'utf-16')
    return `is in UTF-16; expected ${encoding}. Import the downloaded file unchanged`;
  if (!isUtf16 && encoding === 'utf-16') return 'does not start with a byte order mark; expected UTF-16 with one';
  return null;
}

/**
 * Whether the bytes contain UTF-8 characters other than ASCII. Accented letters of a single-byte encoding practically
 * never form valid UTF-8, so the first chunk with any is enough to distinguish the two.
 */
function hasUtf8Characters(chunk: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(chunk, { stream: true });
    return !isAscii(Buffer.from(text));
  } catch {
    return false;
  }
}
