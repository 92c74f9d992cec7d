import { type CheckedRow, checkTables } from '../check/check-tables.ts';
import type { Columns } from '../check/find-columns.ts';
import type { PaymentFile } from '../check/open-file.ts';
import { readTables, type Table } from '../check/read-rows.ts';
import { describeTally, type FindingCounts, Tally } from '../check/tally.ts';
import { createRowWriter, createWorkbookWriter } from '../check/write-results.ts';
import type { CheckedFile, FileOptions } from './check-messages.ts';
import type { Plan } from './check-plan.ts';

/** Checks a delimiter-separated text, or the sheets of a workbook. @throws PaymentFileError */
export async function checkTableFile(
  file: PaymentFile,
  options: FileOptions & Pick<Plan, 'sheet' | 'encoding' | 'columnNames'>,
): Promise<CheckedFile> {
  const { answers, banks, sheet, encoding, columnNames, format, output, bar, isTerminal, throwIfInterrupted } = options;
  const tables = await readTables(file, encoding);
  const planned = await checkTables({ fileName: file.name, tables, sheet, columnNames, answers, banks });
  const several = planned.filter(({ isChecked }) => isChecked).length > 1;
  const workbook = format === 'xlsx' && output !== null ? createWorkbookWriter() : null;
  const summary: string[] = [];
  const findings: FindingCounts[] = [];
  let isAnswered = true;
  let readRows = 0;
  for (const { table, name, isChecked, checked } of planned) {
    if (checked === null) {
      summary.push(`${name}: not checked, as --sheet names another sheet`);
      continue;
    }
    const { columns, rows } = checked;
    const tally = new Tally(isTerminal ? columns : null);
    const write = isChecked ? createWriter(table, columns) : null;
    for await (const group of rows) {
      throwIfInterrupted();
      tally.add(group);
      if (write !== null) await output?.write(write(group));
      bar.show({ rows: readRows + tally.rows, bytes: file.bytesRead(), size: file.size });
    }
    readRows += tally.rows;
    findings.push(tally.findings);
    isAnswered &&= tally.isAnswered();
    summary.push(...describeTally(name, tally, columns, table));
  }
  if (workbook !== null) await output?.write(await workbook.end());
  return { summary, findings, isBroken: false, isAnswered };

  function createWriter({ sheet, style }: Table, columns: Columns): (rows: readonly CheckedRow[]) => string {
    if (workbook !== null) return workbook.addSheet({ sheet, columns });
    return createRowWriter(format === 'json' ? 'json' : 'csv', {
      fileName: file.name,
      sheet: several ? sheet : null,
      columns,
      style,
    });
  }
}
