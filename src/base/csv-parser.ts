import { type CsvError, type Options, parse } from 'csv-parse';

/** What was parsed of a piece of a text: the rows that end in it, and why no more can be read. */
interface ParsedPiece<Row> {
  rows: readonly Row[];
  failure: CsvError | Error | null;
}

/**
 * Parses a delimiter-separated text piece by piece, so that the rows before a failure are returned, too. Many programs do not quote,
 * and texts contain quotation marks. The number of cells is checked later, with a better message.
 * @returns a function that parses the next piece; null is the end of the text
 */
export function createCsvParser<Row>(options: Options): (piece: Buffer | string | null) => Promise<ParsedPiece<Row>> {
  const parser = parse({ relax_column_count: true, relax_quotes: true, ...options });
  // The calls that cause errors receive them, too.
  parser.on('error', () => {});
  // Each row that is not as long as the first one would create an error with its stack, in a hundred times the time of the row itself.
  Object.defineProperty(parser.info, 'records', { get: () => 0, set() {} });

  return async (piece) => {
    const parsed = new Promise<Error | null | undefined>((resolve) => {
      if (piece === null) parser.end(() => resolve(parser.errored));
      else parser.write(piece, resolve);
    });
    const rows: Row[] = [];
    // The parser ends a piece when its rows were taken.
    takeRows(rows);
    const failure = (await parsed) ?? null;
    takeRows(rows);
    return { rows, failure };
  };

  function takeRows(taken: Row[]): void {
    for (let row: Row | null = parser.read(); row !== null; row = parser.read()) taken.push(row);
  }
}
