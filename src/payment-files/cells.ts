/** Only workbooks contain numbers. */
export type Cell = string | number;

/** A row of a table; a blank one has no cells, or empty ones. */
export type Cells = readonly Cell[];

/**
 * A text that spreadsheets do not take for a formula: those that begin with = + - @, a tab or a carriage return get an apostrophe
 * before them. Numbers such as -12.50 and phone numbers such as +49 170 are unchanged.
 * @example
 * neutralize('=HYPERLINK("http://example.com")') // => "'=HYPERLINK(\"http://example.com\")"
 * neutralize('-12.50') // => '-12.50'
 */
export function neutralize(text: string): string {
  return formula.test(text) && !number.test(text) ? `'${text}` : text;
}

const formula = /^[=+\-@\t\r]/;
const number = /^[+-]?[\d.,' ]*\d[\d.,' ]*%?$/;
