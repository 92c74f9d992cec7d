import { type InTimeSlice, runAtOnce } from '../base/async/time-slices.ts';
import type { Answer } from './answers/answer-source.ts';
import type { Answers } from './answers/answers.ts';
import type { BankFacts } from './bank-facts.ts';
import { type Cells, type ColumnNames, type Columns, findColumns } from './find-columns.ts';
import { judgeRow, type RowResult, readRowIban } from './judge-row.ts';

/** A row in the order of the file. */
export interface CheckedRow {
  /** From 1. */
  row: number;
  cells: Cells;
  /** Null for the title row, for rows above it, and for blank rows. */
  result: RowResult | null;
}

export interface CheckedTable {
  columns: Columns;
  rows: AsyncIterable<readonly CheckedRow[]>;
}

interface CheckRowsOptions {
  /** For messages. */
  fileName: string;
  groups: AsyncIterable<readonly Cells[]>;
  columnNames: ColumnNames;
  answers: Pick<Answers, 'find' | 'hurry'>;
  banks: BankFacts;
  /** For a process that has other work, too. */
  inTimeSlice?: InTimeSlice;
}

/**
 * Checks the rows of a table as they are read: a limited number waits for answers, so memory does not grow with the file.
 * @throws PaymentFileError if no column has IBANs
 */
export async function checkRows(options: CheckRowsOptions): Promise<CheckedTable> {
  const { fileName, columnNames, inTimeSlice = runAtOnce } = options;
  const groups = options.groups[Symbol.asyncIterator]();
  const sample: (readonly Cells[])[] = [];
  let sampled = 0;
  while (sampled < sampleRows && sample.length < maxGroups) {
    const next = await groups.next();
    if (next.done) break;
    sample.push(next.value);
    sampled += next.value.length;
  }
  const columns = await findColumns(fileName, sample.flat().slice(0, sampleRows), columnNames, inTimeSlice);
  return { columns, rows: checkGroups(sample, groups, columns, options) };
}

/** Enough to find columns that are often empty. */
const sampleRows = 1_000;

/** Rows that wait for answers: two full lists of a gateway while the next ones are read. */
const maxWaitingRows = 5_000;

/** Groups of rows in memory. A group of a text has a kilobyte. */
const maxGroups = 1_000;

interface WaitingRow {
  row: number;
  cells: Cells;
  /** Null if the service need not be asked, as is `pending`. */
  answer: Answer | null;
  pending: { iban: string; answer: Promise<Answer> } | null;
}

async function* checkGroups(
  sample: (readonly Cells[])[],
  groups: AsyncIterator<readonly Cells[]>,
  columns: Columns,
  { answers, banks, inTimeSlice = runAtOnce }: CheckRowsOptions,
): AsyncGenerator<readonly CheckedRow[]> {
  const waiting: WaitingRow[][] = [];
  let waitingRows = 0;
  let row = 0;
  for (;;) {
    const next = sample.length > 0 ? { value: sample.shift() ?? [], done: false } : await groups.next();
    if (next.done) break;
    waiting.push(await inTimeSlice(() => beginAll(next.value)));
    waitingRows += next.value.length;
    while (waitingRows > maxWaitingRows || waiting.length > maxGroups) yield await takeReady();
  }
  while (waiting.length > 0) yield await takeReady();

  function beginAll(rows: readonly Cells[]): WaitingRow[] {
    return rows.map((cells) => {
      row += 1;
      return begin(row, cells);
    });
  }

  function begin(number: number, cells: Cells): WaitingRow {
    const iban = isData(number, cells) ? readRowIban(cells, columns) : null;
    const answer = iban === null ? null : answers.find(iban);
    if (iban === null || !(answer instanceof Promise))
      return { row: number, cells, answer: answer as Answer | null, pending: null };
    // Thrown when the row is taken.
    answer.catch(() => {});
    return { row: number, cells, answer: null, pending: { iban, answer } };
  }

  /** The next group, once its rows have their answers. */
  async function takeReady(): Promise<readonly CheckedRow[]> {
    const taken = waiting.shift() ?? [];
    waitingRows -= taken.length;
    const checked: CheckedRow[] = [];
    for (const { row: number, cells, answer: known, pending } of taken) {
      if (pending !== null) answers.hurry(pending.iban);
      const answer = pending === null ? known : await pending.answer;
      const judge = () => judgeRow({ row: number, cells, columns, answer, banks });
      const result = isData(number, cells) ? await inTimeSlice(judge) : null;
      checked.push({ row: number, cells, result });
    }
    return checked;
  }

  function isData(number: number, cells: Cells): boolean {
    return number > (columns.titleRow ?? 0) && cells.some((cell) => String(cell).trim() !== '');
  }
}
