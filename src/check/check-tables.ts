import { type CheckedTable, type CheckRowsOptions, checkRows } from './check-rows.ts';
import { PaymentFileError } from './open-file.ts';
import type { Table } from './read-rows.ts';

/** A table of a file, in its order. */
export interface PlannedTable {
  /** Of the file, and of the sheet of a workbook; for messages. */
  name: string;
  table: Table;
  /** Whether its rows have results; otherwise IBANs in it are findings. */
  isChecked: boolean;
  /** Null: not looked at, as another sheet was named. */
  checked: CheckedTable | null;
}

interface CheckTablesOptions extends Omit<CheckRowsOptions, 'table'> {
  tables: readonly Table[];
  /** The only one that is looked at; null: all visible ones with IBANs are checked. */
  sheet: string | null;
}

/**
 * Decides which tables are checked, by their first rows.
 * @throws PaymentFileError if none has IBANs, or a name matches nothing
 */
export async function checkTables({ tables, sheet, ...options }: CheckTablesOptions): Promise<readonly PlannedTable[]> {
  const { fileName } = options;
  const isNamed = (table: Table) => table.sheet?.toLowerCase() === sheet?.trim().toLowerCase();
  if (sheet !== null && !tables.some(isNamed)) {
    const names = tables.flatMap((table) => (table.sheet === null ? [] : [table.sheet]));
    const list = names.length === 0 ? 'it is not a workbook' : `its sheets are ${names.slice(0, maxListed).join(', ')}`;
    throw new PaymentFileError(`${fileName} has no sheet ${JSON.stringify(sheet)}: ${list}`);
  }
  const planned: PlannedTable[] = [];
  for (const table of tables) {
    const name = table.sheet === null ? fileName : `${fileName}, sheet ${JSON.stringify(table.sheet)}`;
    if (sheet !== null && !isNamed(table)) {
      planned.push({ name, table, isChecked: false, checked: null });
      continue;
    }
    const isReported = table.isHidden && sheet === null;
    const checked = await checkRows({ ...options, fileName: name, table, isReported });
    planned.push({ name, table, isChecked: checked.columns.ibans.length > 0, checked });
  }
  if (planned.some(({ isChecked }) => isChecked)) return planned;
  const hidden = tables.some(({ isHidden }) => isHidden) ? '; hidden sheets are checked if --sheet names them' : '';
  throw new PaymentFileError(
    `no column of ${fileName} has IBANs in its first rows; name the column with --column${hidden}`,
  );
}

const maxListed = 20;
