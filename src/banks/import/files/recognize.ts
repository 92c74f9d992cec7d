import { buffer } from 'node:stream/consumers';
import { type InputFile, recognizeKind, replay, takeReadable } from '../../../base/input-file.ts';
import { readWorkbook } from '../../../base/read-workbook.ts';
import type { BankEntry } from '../../listed-bank.ts';
import { ImportError, maxFileMb, type Row, type Sheet } from './bank-file.ts';
import type { BankFileFormat, Layout } from './bank-file-format.ts';
import { readRecordRows } from './record-rows.ts';
import { findTable, lookAhead, readRow } from './table.ts';
import { readTextRows } from './text-rows.ts';

/** Which of the formats of a country a file has, by its first rows and not by its name; null if none. */
export async function findFormat(file: InputFile, formats: readonly BankFileFormat[]): Promise<BankFileFormat | null> {
  for (const format of formats) {
    if (await hasFormat(await readTops(file, format.layout), format, file.name)) return format;
  }
  return null;
}

/** Whether a file can have a layout, by its first bytes. */
export function hasKind({ start }: InputFile, { kind }: Layout): boolean {
  const found = recognizeKind(start);
  if (found === 'archive') return kind === 'workbook';
  return found === 'json' || found === 'xml' ? kind === found : kind === 'csv' || kind === 'fixed-width';
}

interface Top extends Omit<Sheet, 'rows'> {
  rows: readonly Row[];
  /** Whether the row after these cannot be read. */
  isCutShort: boolean;
}

async function readTops(file: InputFile, layout: Layout): Promise<Top[]> {
  const start = { ...file, chunks: replay([file.start]) };
  const sheets = await readSheets(layout.kind === 'workbook' ? file : start, layout);
  return Promise.all(
    sheets.map(async ({ place, rows }) => {
      // The file may end within a row or a character here, or have another format.
      const { first, failure } = await takeReadable(rows[Symbol.asyncIterator](), (taken) => taken < lookAhead);
      if (failure !== null && !(failure instanceof ImportError)) throw failure;
      return { place, rows: first, isCutShort: failure !== null };
    }),
  );
}

async function hasFormat(tops: readonly Top[], format: BankFileFormat, fileName: string): Promise<boolean> {
  const sheets = tops.map(({ place, rows }) => ({ place, rows: replay(rows) }));
  const table = await findTable(sheets, format, fileName).catch((error: unknown) => {
    if (error instanceof ImportError) return null;
    throw error;
  });
  if (table === null) return false;
  for await (const row of table.rows) if ('entry' in readRow(row, table, format)) return true;
  // The titles are all that can be read: the import refuses the file with the reason.
  return typeof format.columns.code === 'string' && tops.some((top) => top.isCutShort);
}

/** The sheets of a workbook, or another file as one sheet. @throws ImportError */
export async function readSheets(file: InputFile, layout: Layout): Promise<readonly Sheet[]> {
  if (layout.kind === 'json' || layout.kind === 'xml') return [{ place: 'entry', rows: readRecordRows(file, layout) }];
  if (layout.kind !== 'workbook') return [{ place: 'line', rows: readTextRows(file, layout) }];
  if (recognizeKind(file.start) === 'old-workbook') {
    throw new ImportError(
      `${file.name} is in the old XLS format or has a password; save it as XLSX without a password`,
    );
  }
  const archive = await buffer(file.chunks);
  const sheets = await readWorkbook({ name: file.name, archive, ErrorType: ImportError, limits: workbookLimits });
  return sheets.map(({ name, rows }) => ({ place: `sheet "${name}", row`, rows: numberRows(rows()) }));
}

/** Four to six times the largest official file, which has about 8,000 rows. */
const workbookLimits = {
  unpackedMb: 16,
  sharedMillionCharacters: 16,
  sheetMillionCharacters: maxFileMb,
  rows: 50_000,
  columns: 1_000,
};

async function* numberRows(rows: AsyncIterable<Row['cells']>): AsyncGenerator<Row> {
  let line = 0;
  for await (const cells of rows) {
    line += 1;
    if (cells.length > 0) yield { cells, line };
  }
}

/** Whether most BICs are of the country; a few may belong to branches of foreign banks. */
export function hasBicsOf(country: string, entries: readonly BankEntry[]): boolean {
  const countries = countriesOfBics(entries);
  return countries.filter((code) => code === country).length * 2 >= countries.length;
}

export function countriesOfBics(entries: readonly BankEntry[]): string[] {
  return entries.flatMap(({ bic }) => (bic === '' ? [] : [bic.slice(4, 6)]));
}
