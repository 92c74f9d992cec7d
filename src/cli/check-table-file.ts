import type { KnownBanks } from '../banks/known-banks.ts';
import type { ProgressBar } from '../base/process/progress-bar.ts';
import type { Answers } from '../check/answers/answers.ts';
import { type CheckedRow, checkTables } from '../check/check-tables.ts';
import type { TextEncoding } from '../check/encodings.ts';
import type { ColumnNames, Columns } from '../check/find-columns.ts';
import { FindingCounts } from '../check/finding.ts';
import type { PaymentFile } from '../check/open-file.ts';
import type { Output } from '../check/output.ts';
import { readTables, type Table } from '../check/read-rows.ts';
import { describeTally, Tally } from '../check/tally.ts';
import { createRowWriter, createWorkbookWriter, type OutputFormat } from '../check/write-results.ts';
import type { CheckedFile } from './check-messages.ts';

interface TableFileOptions {
  answers: Answers;
  banks: KnownBanks;
  /** Null: all visible sheets with IBANs. */
  sheet: string | null;
  encoding: TextEncoding | null;
  columnNames: ColumnNames;
  /** Null: CSV. */
  format: OutputFormat | null;
  /** For rows; null: they are only counted. */
  output: Output | null;
  bar: ProgressBar;
  throwIfInterrupted(): void;
}

/** Checks a delimiter-separated text, or the sheets of a workbook. @throws PaymentFileError */
export async function checkTableFile(file: PaymentFile, options: TableFileOptions): Promise<CheckedFile> {
  const { answers, banks, sheet, encoding, columnNames, format, output, bar, throwIfInterrupted } = options;
  const tables = await readTables(file, encoding);
  const planned = await checkTables({ fileName: file.name, tables, sheet, columnNames, answers, banks });
  const several = planned.filter(({ isChecked }) => isChecked).length > 1;
  const workbook = format === 'xlsx' && output !== null ? createWorkbookWriter() : null;
  const summary: string[] = [];
  const all = { summary, findings: new FindingCounts(), isBroken: false, isAnswered: true };
  let readRows = 0;
  for (const { table, name, isChecked, checked } of planned) {
    if (checked === null) {
      all.summary.push(`${name}: not checked, as --sheet names another sheet`);
      continue;
    }
    const { columns, rows } = checked;
    const tally = new Tally();
    const write = isChecked ? createWriter(table, columns) : null;
    for await (const group of rows) {
      throwIfInterrupted();
      tally.add(group);
      if (write !== null) await output?.write(write(group));
      bar.show({ rows: readRows + tally.rows, bytes: file.bytesRead(), size: file.size });
    }
    readRows += tally.rows;
    all.findings.addAll(tally.findings);
    all.isAnswered &&= tally.unanswered() === 0;
    all.summary.push(...describeTally(name, tally, columns, table));
  }
  if (workbook !== null) await output?.write(await workbook.end());
  return all;

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
