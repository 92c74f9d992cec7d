export interface Row {
  /** Only workbooks contain numbers. */
  cells: readonly (string | number)[];
  /** From 1, as in an editor or spreadsheet. */
  line: number;
}

/** The rows of a text file, or of one sheet of a workbook. Blank ones are skipped. */
export interface Sheet {
  /** For messages, before the line number: `blz.csv, line`. */
  place: string;
  rows: AsyncIterable<Row>;
}
