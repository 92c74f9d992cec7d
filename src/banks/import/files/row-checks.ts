import type { InputFile } from '../../../base/input-file.ts';
import { count } from '../../../base/process/terminal.ts';
import { ImportError, type Row } from './bank-file.ts';

/** Rows that were left out, or imported without a field, because of an error in them. */
export interface Faults {
  count: number;
  leftOut: number;
  /** The first of them, with their position. */
  first: readonly string[];
}

export function createFaults() {
  const faults = { count: 0, leftOut: 0, first: [] as string[] };
  return {
    add(place: string, problem: string, { isLeftOut }: { isLeftOut: boolean }): void {
      faults.count += 1;
      if (isLeftOut) faults.leftOut += 1;
      if (faults.first.length >= maxListedFaults) return;
      faults.first.push(`${place}, ${isLeftOut ? 'left out' : 'imported without it'}: ${problem}`);
    },
    all: (): Faults => faults,
  };
}

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

/** Shows how far a file was read. */
export type OnProgress = (progress: { rows: number; bytes: number; size: number | null }) => void;

/** The same rows, whose number is shown while they are read. */
export async function* countRows(
  { size, bytesRead }: InputFile,
  all: AsyncIterable<Row>,
  onProgress: OnProgress = () => {},
): AsyncGenerator<Row> {
  let rows = 0;
  for await (const row of all) {
    rows += 1;
    if (rows % rowsPerProgress === 0) onProgress({ rows, bytes: bytesRead(), size });
    yield row;
  }
  onProgress({ rows, bytes: bytesRead(), size });
}

const rowsPerProgress = 500;
