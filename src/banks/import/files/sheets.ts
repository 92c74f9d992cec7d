import { buffer } from 'node:stream/consumers';
import { readWorkbook, WorkbookError } from '../../../base/read-workbook.ts';
import { type BankFile, ImportError, maxFileMb, type Sheet } from './bank-file.ts';
import type { Layout } from './bank-file-format.ts';
import { readRecordRows } from './record-rows.ts';
import { readTextRows } from './text-rows.ts';

/** The sheets of a workbook, or a text file as one sheet. */
export async function readSheets(file: BankFile, layout: Layout): Promise<readonly Sheet[]> {
  if (layout.kind === 'workbook') return readWorkbookSheets(file);
  if (layout.kind === 'json' || layout.kind === 'xml') return [{ place: 'entry', rows: readRecordRows(file, layout) }];
  return [{ place: 'line', rows: readTextRows(file, layout) }];
}

/** The largest of these workbooks has about 8,000 rows. @throws ImportError */
async function readWorkbookSheets({ name, chunks }: BankFile): Promise<readonly Sheet[]> {
  try {
    const sheets = await readWorkbook(name, await buffer(chunks), workbookLimits);
    return sheets.map(({ place, rows }) => ({ place, rows: asImport(rows) }));
  } catch (error) {
    throw toImportError(error);
  }
}

/** Four to six times the largest official file, and four tags for each cell. */
const workbookLimits = {
  unpackedMb: 16,
  rows: 50_000,
  cells: 1_000_000,
  tags: 2_000_000,
  millionCharacters: maxFileMb,
};

async function* asImport<Item>(rows: Iterable<Item>): AsyncGenerator<Item> {
  try {
    yield* rows;
  } catch (error) {
    throw toImportError(error);
  }
}

function toImportError(error: unknown): unknown {
  return error instanceof WorkbookError ? new ImportError(error.message) : error;
}
