export type Severity = 'error' | 'warning' | 'hint';

/** Where: row (1-based, of the file, the title row counts) and column title for a table; line and XPath for a pain message. */
export type Place = { row: number; column: string | null } | { line: number; xpath: string };

export interface Finding {
  code: string;
  severity: Severity;
  place: Place;
  message: string;
  suggestion: string | null;
}
