import type { BankFileFormat } from './bank-file-format.ts';
import type { BankFile } from './open-bank-file.ts';
import { readTextRows } from './text-rows.ts';
import { readWorkbookSheets } from './workbook-rows.ts';

export interface Row {
  /** Numbers come from workbooks only. */
  cells: readonly (string | number)[];
  /** From 1, as an editor or a spreadsheet counts. */
  line: number;
}

/** The rows of a text file, or of one sheet of a workbook. Blank ones are left out. */
export interface Sheet {
  /** What comes before the line in messages: `blz.csv, line`. */
  place: string;
  rows: AsyncIterable<Row>;
}

/** What a file holds by the layout of its format: one sheet, or all those of a workbook. */
export async function readSheets(file: BankFile, { layout }: BankFileFormat): Promise<readonly Sheet[]> {
  if (layout.kind === 'workbook') return readWorkbookSheets(file);
  return [{ place: `${file.name}, line`, rows: readTextRows(file, layout) }];
}
