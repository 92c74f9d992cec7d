import { chain } from '../base/input-file.ts';
import { isValidIban } from '../iban/iban.ts';
import type { Answer, Answers } from './answers/answers.ts';
import type { BankFacts } from './bank-facts.ts';
import { type ColumnNames, type Columns, findColumns, type IbanColumn } from './find-columns.ts';
import { type Cells, cellText, isBlankRow, looksLikeIban, readIbanCell, readIbanInText } from './iban-cells.ts';
import { type IbanCell, judgeRow, type RowResult } from './judge-row.ts';
import { PaymentFileError } from './open-file.ts';
import { OrderedQueue } from './ordered-queue.ts';
import type { Table } from './read-rows.ts';

/** A row in the order of the file. */
export interface CheckedRow {
  /** From 1. */
  row: number;
  cells: Cells;
  kind: RowKind;
  /** Null for rows that cannot hold an IBAN to check: titles, blank rows, totals, and rows above the titles without one. */
  result: RowResult | null;
}

/** `above`: above the titles. `total`: a total or a line between parts, which has no IBAN. */
export type RowKind = 'data' | 'above' | 'titles' | 'blank' | 'total';

/** A table of a file, in its order. */
interface PlannedTable {
  /** The name of the file, and of the sheet of a workbook; for messages. */
  name: string;
  table: Table;
  /** Whether its rows have results; otherwise IBANs in it are findings. */
  isChecked: boolean;
  /** Its rows can be read once. Null: not looked at, as another sheet was named. */
  checked: Awaited<ReturnType<typeof checkRows>> | null;
}

interface CheckOptions {
  columnNames: ColumnNames;
  answers: Pick<Answers, 'find'>;
  banks: BankFacts;
}

interface CheckTablesOptions extends CheckOptions {
  /** For messages. */
  fileName: string;
  tables: readonly Table[];
  /** The only one that is looked at; null: all visible ones with IBANs are checked. */
  sheet: string | null;
}

/**
 * Decides which tables are checked, by their first rows.
 * @throws PaymentFileError if none has IBANs, or a name matches nothing
 */
export async function checkTables(options: CheckTablesOptions): Promise<readonly PlannedTable[]> {
  const { fileName, tables, sheet } = options;
  const isNamed = (table: Table) => table.sheet?.toLowerCase() === sheet?.trim().toLowerCase();
  if (sheet !== null && !tables.some(isNamed)) {
    const names = tables.flatMap((table) => (table.sheet === null ? [] : [table.sheet]));
    const list = names.length === 0 ? 'it is not a workbook' : `its sheets are ${names.slice(0, maxListed).join(', ')}`;
    throw new PaymentFileError(`${fileName} has no sheet ${JSON.stringify(sheet)}: ${list}`);
  }
  const planned: PlannedTable[] = [];
  for (const table of tables) {
    const name = table.sheet === null ? fileName : `${fileName}, sheet ${JSON.stringify(table.sheet)}`;
    const isHidden = table.isHidden && sheet === null;
    const checked = sheet !== null && !isNamed(table) ? null : await checkRows(name, table, isHidden, options);
    planned.push({ name, table, isChecked: checked !== null && checked.columns.ibans.length > 0, checked });
  }
  if (planned.some(({ isChecked }) => isChecked)) return planned;
  if (planned.every(({ checked }) => checked === null || checked.isBlank))
    throw new PaymentFileError(`${fileName} has no rows, or its first rows are blank: there is nothing to check`);
  const hidden = tables.some(({ isHidden }) => isHidden) ? '; hidden sheets are checked if --sheet names them' : '';
  throw new PaymentFileError(
    `no column of ${fileName} has IBANs in its first rows; name the column with --column${hidden}`,
  );
}

const maxListed = 20;

/**
 * Checks the rows of a table as they are read: a limited number waits for answers, so memory does not grow with the file. If no column
 * has IBANs, none is checked, and those that appear later are reported.
 * @param isReported whether the table is not to be checked: IBANs in it are findings
 */
async function checkRows(name: string, table: Table, isReported: boolean, options: CheckOptions) {
  const groups = table.groups[Symbol.asyncIterator]();
  const sample: (readonly Cells[])[] = [];
  const first: Cells[] = [];
  while (first.length < sampleRows && sample.length < maxGroups) {
    const next = await groups.next();
    if (next.done) break;
    sample.push(next.value);
    first.push(...next.value.slice(0, sampleRows - first.length));
  }
  const found = findColumns(name, first, isReported ? noNames : options.columnNames);
  const columns = isReported ? { ...found, ibans: [] } : found;
  // Whether its first rows have nothing in them, or it has none.
  const isBlank = first.every(isBlankRow);
  return { columns, isBlank, rows: checkGroups(chain(sample, groups), columns, options) };
}

const noNames: ColumnNames = { iban: null, bic: null, name: null };

/** Enough to find columns that are often empty. */
const sampleRows = 1_000;

/** Rows that wait for answers: two full lists of a gateway while the next ones are read. */
const maxWaitingRows = 5_000;

/** Groups of rows in memory. A group of a text has eight kilobytes, or a long row. */
const maxGroups = 250;

/** A row that may wait for answers. */
type WaitingRow = Omit<CheckedRow, 'result'> & { ibans: readonly IbanCell[] };

async function* checkGroups(
  groups: AsyncIterable<readonly Cells[]>,
  columns: Columns,
  { answers, banks }: CheckOptions,
): AsyncGenerator<readonly CheckedRow[]> {
  const waiting = new OrderedQueue<readonly WaitingRow[]>();
  let waitingRows = 0;
  let row = 0;
  /** The last account of the payer, by column. */
  const accounts = new Map<number, string>();
  for await (const read of groups) {
    const asked: Promise<void>[] = [];
    const rows = read.map((cells) => begin(cells, asked));
    waiting.add(asked.length === 0 ? rows : Promise.all(asked).then(() => rows));
    waitingRows += read.length;
    yield* takeRows(() => waitingRows > maxWaitingRows || waiting.length > maxGroups);
  }
  yield* takeRows(() => true);

  function begin(cells: Cells, asked: Promise<void>[]): WaitingRow {
    row += 1;
    const kind = findKind(row, cells, columns);
    const ibans = findIbanCells(kind, cells, columns).map((found) => ask(cells, found, asked));
    return { row, cells, kind, ibans };
  }

  function ask(cells: Cells, { column, party, bic, isText }: IbanColumn, asked: Promise<void>[]): IbanCell {
    const iban = isText ? readIbanInText(cells[column]) : readIbanCell(cells[column]);
    const isRepeated = party === 'payer' && iban !== '' && accounts.get(column) === iban;
    if (party === 'payer') accounts.set(column, iban);
    const answer = isValidIban(iban) ? answers.find(iban) : null;
    const cell: IbanCell = { column, party, bic, isText, iban, isRepeated, answer: null };
    const take = (known: Answer | null) => {
      cell.answer = known;
    };
    if (answer instanceof Promise) asked.push(answer.then(take));
    else take(answer);
    return cell;
  }

  /** Groups of rows that have their answers. */
  async function* takeRows(mustWait: () => boolean): AsyncGenerator<readonly CheckedRow[]> {
    for await (const rows of waiting.take(mustWait)) {
      waitingRows -= rows.length;
      yield rows.map(({ row, cells, kind, ibans }) => {
        const needsResult = kind === 'data' || ibans.length > 0 || (kind === 'titles' && cells.some(looksLikeIban));
        return { row, cells, kind, result: needsResult ? judgeRow({ row, cells, columns, ibans, banks }) : null };
      });
    }
  }
}

function findKind(row: number, cells: Cells, { titleRow, ibans }: Columns): RowKind {
  if (row === titleRow) return 'titles';
  if (isBlankRow(cells)) return 'blank';
  if (row < (titleRow ?? 0)) return 'above';
  return isTotal(cells, ibans) ? 'total' : 'data';
}

/** The cells with an IBAN to check. Above the titles, it may be the own account. */
function findIbanCells(kind: RowKind, cells: Cells, { ibans, isWhole }: Columns): readonly IbanColumn[] {
  if (kind === 'data') return ibans;
  if (kind !== 'above' || ibans.length === 0 || !isWhole) return [];
  return cells.flatMap((cell, column) =>
    looksLikeIban(cell) ? [{ column, party: null, bic: null, isText: false }] : [],
  );
}

/** A row of a report, not of a payment: its first cell has nothing but a word for a total, or all have nothing but lines. */
function isTotal(cells: Cells, ibans: readonly IbanColumn[]): boolean {
  const first = cells.find((cell) => typeof cell === 'string' && cell.trim() !== '');
  if (typeof first !== 'string') return false;
  const isLine = cells.every((cell) => typeof cell === 'string' && /^[\s\-=_*+|.]*$/.test(cell));
  const mayBeTotal = isLine || (first.length <= maxTotalLength && totalWords.test(cellText(first).trim()));
  return (
    mayBeTotal &&
    !cells.some(looksLikeIban) &&
    ibans.every(({ column }) => !/[a-z]/i.test(String(cells[column] ?? '').replace(first, '')))
  );
}

const maxTotalLength = 30;

// cspell:disable
const totalWords =
  /^(?:[*]+|(?:sub|grand )?totals?|sum|count|number of (?:rows|records|payments)|zwischensumme|summe|gesamt(?:summe|betrag)?|anzahl|saldo|sous-total|somme|nombre|suma|totale|totaal|aantal|numero|razem)\s*:?$/i;
