import { buffer } from 'node:stream/consumers';
import readWorkbook, { type CellValue, type Row as WorkbookRow } from 'read-excel-file/node';
import { type BankFile, ImportError, type Row, type Sheet } from './bank-file.ts';
import type { BankFileFormat } from './bank-file-format.ts';
import { readTextRows } from './text-rows.ts';

/** The sheets of a workbook, or a text file as one sheet. */
export async function readSheets(file: BankFile, { layout }: BankFileFormat): Promise<readonly Sheet[]> {
  if (layout.kind === 'workbook') return readWorkbookSheets(file);
  return [{ place: `${file.name}, line`, rows: readTextRows(file, layout) }];
}

/**
 * The sheets of an XLSX workbook. The format requires to unpack the whole file in memory; the largest of these files has
 * about 8,000 rows.
 * @throws ImportError
 */
async function readWorkbookSheets({ name, start, chunks }: BankFile): Promise<readonly Sheet[]> {
  if (start.subarray(0, 4).toString('hex') === oldWorkbook) {
    throw new ImportError(`${name} is a workbook in the old XLS format; save it as XLSX`);
  }
  if (start.subarray(0, 2).toString('latin1') !== 'PK') throw new ImportError(`${name} is not an XLSX workbook`);
  const sheets = await readWorkbook(await buffer(chunks)).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ImportError(`${name} is not an XLSX workbook, or is damaged: ${reason}`);
  });
  return sheets.map(({ sheet, data }) => ({ place: `${name}, sheet "${sheet}", row`, rows: rowsOf(data) }));
}

const oldWorkbook = 'd0cf11e0';

async function* rowsOf(data: readonly WorkbookRow[]): AsyncGenerator<Row> {
  for (const [index, row] of data.entries()) {
    const cells = row.map(readCell);
    if (cells.some((cell) => cell !== '')) yield { cells, line: index + 1 };
  }
}

function readCell(cell: CellValue | null): string | number {
  if (cell === null) return '';
  return typeof cell === 'number' ? cell : String(cell);
}
