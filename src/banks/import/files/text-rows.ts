import { createCsvParser } from '../../../base/csv-parser.ts';
import type { DecodedText } from '../../../base/decode-text.ts';
import type { InputFile } from '../../../base/input-file.ts';
import { count } from '../../../base/process/terminal.ts';
import { ImportError, type Row } from './bank-file.ts';
import { cellText, type Layout, type TextEncoding } from './bank-file-format.ts';
import { decodeBankFile } from './decode-bank-file.ts';

/** Streams the rows of a text file. @throws ImportError */
export function readTextRows(
  file: InputFile,
  layout: Extract<Layout, { kind: 'csv' | 'fixed-width' }>,
): AsyncIterable<Row> {
  const lines = readLines(file, decodeBankFile(file, layout.encoding), layout);
  const rows =
    layout.kind === 'csv' ? csvRows(file, lines.contents, layout) : fixedWidthRows(lines.contents, layout.widths);
  return markLastRow(rows, lines);
}

interface Lines {
  contents: AsyncIterable<string>;
  /** The number of the last line, if it was read and has no line end; otherwise null. */
  openLine(): number | null;
}

async function* markLastRow(rows: AsyncIterable<Row>, { openLine }: Lines): AsyncGenerator<Row> {
  for await (const row of rows) yield row.line === openLine() ? { ...row, hasNoEnd: true } : row;
}

/** Ten times the longest row of an official file. */
export const maxLineLength = 10_000;

/** Ten times the rows of the largest official file. */
export const maxLines = 150_000;

/** @throws ImportError for bytes of another encoding, a line that is too long, or too many lines */
function readLines(
  { name }: InputFile,
  { pieces, encoding }: DecodedText<string>,
  { encoding: published, alphabet }: { encoding: TextEncoding; alphabet?: string },
): Lines {
  const foreignLetter = alphabet === undefined ? null : new RegExp(`(?![a-zªº${alphabet}])\\p{L}`, 'iu');
  let line = 0;
  let openLine: number | null = null;
  return { contents: readContents(), openLine: () => openLine };

  async function* readContents(): AsyncGenerator<string> {
    let rest = '';
    for await (const piece of pieces) {
      // A \r at the end may be the first half of \r\n.
      const parts = (rest + piece).split(/\r\n|\n|\r(?=[\s\S])/);
      rest = parts.pop() ?? '';
      for (const part of parts) yield check(part);
      if (rest.length > maxLineLength) check(rest);
    }
    if (rest === '') return;
    const last = check(rest.replace(/\r$/, ''));
    if (!rest.endsWith('\r')) openLine = line;
    yield last;
  }

  function check(content: string): string {
    line += 1;
    if (line > maxLines) {
      throw new ImportError(`${name} has more than ${count(maxLines)} lines, the limit for a bank file`);
    }
    const invalid = (problem: string) => new ImportError(`${name}, line ${line}: ${problem}`);
    if (undecodable.test(content)) {
      throw invalid(`bytes that are not ${encoding()}; import the downloaded file unchanged`);
    }
    const [letter] = (encoding() === published && foreignLetter?.exec(content)) || [];
    if (letter !== undefined) {
      throw invalid(
        `the letter "${letter}", which its language does not have; ` +
          `the file must be in ${published}, as it is published, or in utf-8; import the downloaded file unchanged`,
      );
    }
    if (content.length > maxLineLength) {
      throw invalid(`more than ${count(maxLineLength)} characters, the limit for a line`);
    }
    return content;
  }
}

/** What decoders replace invalid bytes with; and the lines of boxes, which take the place of letters in cp852. */
export const undecodable = /[\ufffd\u2500-\u259f]/;

async function* csvRows(
  { name }: InputFile,
  lines: AsyncIterable<string>,
  { separator, isQuoted = false }: Extract<Layout, { kind: 'csv' }>,
): AsyncGenerator<Row> {
  const parse = createCsvParser<{ record: string[]; info: { lines: number } }>({
    delimiter: separator,
    skip_empty_lines: true,
    // In bytes of UTF-8; only a quoted cell that contains line breaks can exceed it.
    max_record_size: maxLineLength * 4,
    info: true,
  });
  let lastLine = 0;
  for await (const piece of withLineBreaks(lines)) {
    const { rows, failure } = await parse(piece);
    for (const { record: cells, info } of rows) {
      lastLine = info.lines;
      // A stray quotation mark would take the cells of one bank for another; no other official file has line breaks in cells.
      const [, ...breaks] = cells.join('').split('\n');
      if (breaks.length > 0 && !isQuoted) {
        throw new ImportError(
          `${name}, line ${lastLine - breaks.length}: a quotation mark is opened, and closed only in a later line`,
        );
      }
      if (cells.some((cell) => cellText(cell) !== '')) yield { cells, line: lastLine };
    }
    // The options leave no other reason.
    if (failure) throw new ImportError(`${name}, line ${lastLine + 1}: a quotation mark is opened and never closed`);
  }
}

/** Null after the last one. */
async function* withLineBreaks(lines: AsyncIterable<string>): AsyncGenerator<string | null> {
  for await (const line of lines) yield `${line}\n`;
  yield null;
}

async function* fixedWidthRows(lines: AsyncIterable<string>, widths: readonly number[]): AsyncGenerator<Row> {
  const width = widths.reduce((sum, next) => sum + next, 0);
  let line = 0;
  for await (const content of lines) {
    line += 1;
    if (content.trim() === '') continue;
    const cells = cut(content, [...widths, ibanRuleLength]);
    // Other programs add spaces at the end.
    const length = Math.max(content.trimEnd().length, Math.min(content.length, width));
    if (length === width || length === width + ibanRuleLength) yield { cells, line };
    else {
      const problem = `${length} ${length === 1 ? 'character' : 'characters'}; a row of this file has ${width}`;
      yield { cells, line, problem };
    }
  }
}

/** In the extended file of the Bundesbank, each row ends with an IBAN rule; in others, its cell is empty. */
const ibanRuleLength = 6;

function cut(content: string, widths: readonly number[]): string[] {
  let at = 0;
  return widths.map((width) => {
    at += width;
    return content.slice(at - width, at);
  });
}
