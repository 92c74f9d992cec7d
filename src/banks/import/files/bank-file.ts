import { basename } from 'node:path';
import { type InputFile, openInputFile } from '../../../base/input-file.ts';
import { count } from '../../../base/process/terminal.ts';

/** Ten times the largest official file. */
export const maxFileMb = 32;

/** Opens a file or a pipe. @returns it under its name without its folder @throws ImportError */
export async function openBankFile(path: string): Promise<InputFile> {
  const limit = { mb: maxFileMb, noun: 'a bank file' };
  const file = await openInputFile(path, { ErrorType: ImportError, expected: 'the downloaded file', limit });
  return { ...file, name: basename(path) };
}

export interface Row {
  /** Only workbooks contain numbers. */
  cells: readonly (string | number)[];
  /** From 1, as in an editor or spreadsheet; the number of the entry in JSON and XML. */
  line: number;
  /** Why it cannot be read. */
  problem?: string;
  /** Whether it is in the last line of a text file, without a line end: the file may have been cut off within it. */
  hasNoEnd?: boolean;
}

/** The rows of a text file, or of one sheet of a workbook. Blank ones are skipped. */
export interface Sheet {
  /** For messages, before the number of a row: `line`, or `sheet "Banks", row`. */
  place: string;
  rows: AsyncIterable<Row>;
}

/** Why nothing was imported. The message is a sentence without its full stop, for the operator. */
export class ImportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportError';
  }
}

/** Rows that were left out, or imported without a field, because of an error in them. */
export interface Faults {
  count: number;
  leftOut: number;
  /** The first of them, with their position. */
  first: readonly string[];
}

/** What is wrong in a row. */
interface Fault {
  problem: string;
  /** Whether the row is left out, not only the wrong field. */
  isLeftOut: boolean;
}

/** Shows how far a file was read. */
export type OnProgress = (progress: { rows: number; bytes: number; size: number | null }) => void;

/**
 * Reads each row of a sheet.
 * @returns how many there are, and what is wrong in them
 * @throws ImportError if the file ends within a row that is wrong
 */
export async function readEachRow(
  { name, size, bytesRead }: InputFile,
  { place, rows: all }: Sheet,
  onProgress: OnProgress = () => {},
  read: (row: Row) => Fault | null,
): Promise<{ rows: number; faults: Faults }> {
  const faults = { count: 0, leftOut: 0, first: [] as string[] };
  let rows = 0;
  for await (const row of all) {
    rows += 1;
    if (rows % rowsPerProgress === 0) onProgress({ rows, bytes: bytesRead(), size });
    const fault = read(row);
    if (fault === null) continue;
    const { problem, isLeftOut } = fault;
    if (row.hasNoEnd) throw new ImportError(`${name} ends within ${place} ${row.line}; download it again`);
    faults.count += 1;
    if (isLeftOut) faults.leftOut += 1;
    if (faults.first.length >= maxListedFaults) continue;
    faults.first.push(`${place} ${row.line}, ${isLeftOut ? 'left out' : 'imported without it'}: ${problem}`);
  }
  onProgress({ rows, bytes: bytesRead(), size });
  return { rows, faults };
}

const rowsPerProgress = 500;
const maxListedFaults = 10;

/**
 * One row in a hundred of those of the country or register may be wrong, and one of any two or more: if there are more, the file is
 * damaged, or its format has changed.
 */
export function rejectFaults(name: string, rows: number, { count: wrong, first }: Faults): void {
  if (wrong <= Math.max(Math.floor(rows / 100), rows > 1 ? 1 : 0)) return;
  const [listed, more] = [first.slice(0, maxQuotedFaults), wrong - maxQuotedFaults];
  throw new ImportError(
    `${name} has errors in ${count(wrong)} of ${count(rows)} rows, more than one in a hundred: ` +
      `${listed.join('; ')}${more > 0 ? `; and ${count(more)} more` : ''}`,
  );
}

const maxQuotedFaults = 3;
