import { Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { ImportError } from '../import-error.ts';
import type { Layout } from './bank-file-format.ts';
import { cellText } from './cells.ts';
import { decodeText } from './decode-text.ts';
import type { BankFile } from './open-bank-file.ts';
import type { Row } from './row.ts';

/** Streams the rows of a text file. @throws ImportError */
export function readTextRows(file: BankFile, layout: Exclude<Layout, { kind: 'workbook' }>): AsyncIterable<Row> {
  const text = decodeText(file, layout.encoding);
  return layout.kind === 'csv' ? csvRows(file, text, layout.separator) : fixedWidthRows(file, text, layout.widths);
}

async function* csvRows({ name }: BankFile, text: AsyncIterable<string>, separator: string): AsyncGenerator<Row> {
  let lastLine = 0;
  const parser = parse({
    delimiter: separator,
    bom: true,
    // The number of columns is checked later, with a better message.
    relax_column_count: true,
    // Most of these files do not quote, and contain names such as `Bank "Rolnik"`.
    relax_quotes: true,
    skip_empty_lines: true,
    info: true,
    // Called while parsing: at a failure, the rows before it may not have been read yet.
    on_record(record, { lines }) {
      lastLine = lines;
      return record;
    },
  });
  // A failure of the text destroys the parser too, so that the loop below throws it.
  const source = Readable.from(text).on('error', (error) => parser.destroy(error));
  const records: AsyncIterable<{ record: string[]; info: Info }> = source.pipe(parser);
  try {
    for await (const { record, info } of records) {
      if (record.some((cell) => cellText(cell) !== '')) yield { cells: record, line: info.lines };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const problem =
      error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'a quotation mark is opened and never closed' : error.message;
    throw new ImportError(`${name}, line ${lastLine + 1}: ${problem}`);
  } finally {
    source.destroy();
  }
}

async function* fixedWidthRows(
  { name }: BankFile,
  text: AsyncIterable<string>,
  widths: readonly number[],
): AsyncGenerator<Row> {
  const width = widths.reduce((sum, next) => sum + next, 0);
  let line = 0;
  for await (const content of lines(text)) {
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

async function* lines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of text) {
    const parts = (rest + piece).split(/\r?\n/);
    rest = parts.pop() ?? '';
    yield* parts;
  }
  yield rest;
}

function cut(content: string, widths: readonly number[]): string[] {
  let at = 0;
  return widths.map((width) => {
    at += width;
    return content.slice(at - width, at);
  });
}
