import type { BankFileFormat } from './bank-file-format.ts';
import type { BankFile } from './open-bank-file.ts';
import type { Sheet } from './row.ts';
import { readTextRows } from './text-rows.ts';
import { readWorkbookSheets } from './workbook-rows.ts';

/** The sheets of a workbook, or a text file as one sheet. */
export async function readSheets(file: BankFile, { layout }: BankFileFormat): Promise<readonly Sheet[]> {
  if (layout.kind === 'workbook') return readWorkbookSheets(file);
  return [{ place: `${file.name}, line`, rows: readTextRows(file, layout) }];
}
