import { basename } from 'node:path';
import { type InputFile, openInputFile } from '../../../base/input-file.ts';

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
