export interface Row {
  /** Numbers come from workbooks only. */
  cells: readonly (string | number)[];
  /** From 1, as an editor or a spreadsheet counts. */
  line: number;
}

/** The rows of a text file, or of one sheet of a workbook. Blank ones are left out. */
export interface Sheet {
  /** What comes before the line in messages: `blz.csv, line`. */
  place: string;
  rows: AsyncIterable<Row>;
}
