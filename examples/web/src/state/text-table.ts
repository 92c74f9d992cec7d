import { CsvError, parse } from 'csv-parse/browser/esm/sync';
import { compactIban } from './iban-text.ts';

/** The rows of a delimiter-separated text in their order, blank ones and those above the titles included. */
export interface TextTable {
  rows: readonly (readonly string[])[];
  delimiter: string;
  lineEnd: '\n' | '\r\n';
  encoding: Encoding;
  /** Whether programs recognize the encoding only with a byte order mark, as Excel does. */
  hasByteOrderMark: boolean;
}

type Encoding = 'UTF-8' | 'UTF-16' | 'Windows-1252';

/** Lengths of IBANs by country; empty while they are not known. */
export type IbanLengths = ReadonlyMap<string, number>;

/** Larger files are for the command line tool, which streams them. */
const maxMegabytes = 10;

/** @throws Error with a message for the user */
export function readTable(bytes: Uint8Array, lengths: IbanLengths): TextTable {
  if (bytes.length > maxMegabytes * 1_000_000) {
    throw new Error(`The file has more than ${maxMegabytes} MB: check it with the command "ledgerquill check".`);
  }
  if (startsWith(bytes, 'PK')) {
    throw new Error('A workbook: save it as CSV, or check it with the command "ledgerquill check".');
  }
  const { text, encoding } = decode(bytes);
  if (text.includes('\0')) throw new Error('The file is not a text: choose a CSV or TSV file.');
  if (/^\s*<\?xml/.test(text)) throw new Error('The file is XML: choose a CSV or TSV file.');
  const hasByteOrderMark = encoding !== 'UTF-8' || startsWith(bytes, '\xef\xbb\xbf');
  return { ...parseTable(text, lengths), encoding, hasByteOrderMark };
}

function startsWith(bytes: Uint8Array, start: string): boolean {
  return [...start].every((character, index) => bytes[index] === character.charCodeAt(0));
}

/** Without its byte order mark. Accented letters of Windows-1252 practically never form valid UTF-8. */
function decode(bytes: Uint8Array): { text: string; encoding: Encoding } {
  if (startsWith(bytes, '\xff\xfe')) return { text: new TextDecoder('utf-16le').decode(bytes), encoding: 'UTF-16' };
  if (startsWith(bytes, '\xfe\xff')) return { text: new TextDecoder('utf-16be').decode(bytes), encoding: 'UTF-16' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'UTF-8' };
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'Windows-1252' };
  }
}

/** @throws Error with a message for the user */
export function parseTable(text: string, lengths: IbanLengths): Pick<TextTable, 'rows' | 'delimiter' | 'lineEnd'> {
  const delimiter = findDelimiter(text, lengths);
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  try {
    return { rows: parse(text, { ...parseOptions, delimiter }), delimiter, lineEnd };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Error('A quotation mark in the table is opened and never closed.');
  }
}

const parseOptions = {
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  // Many programs do not quote, and texts contain quotation marks.
  relax_quotes: true,
  // Only a quotation mark that is never closed makes a row this long.
  max_record_size: 1_000_000,
};

/** The one with which most cells are IBANs; if they are as many, the one with which most rows have several cells. */
function findDelimiter(text: string, lengths: IbanLengths): string {
  const named = /^sep=([^\r\n])\r?\n/.exec(text)?.[1];
  if (named !== undefined) return named;
  const [best] = delimiters
    .map((delimiter) => {
      const rows = parseStart(text, delimiter);
      const ibans = rows.flat().filter((cell) => looksLikeIban(cell, lengths)).length;
      return { delimiter, ibans, several: rows.filter(({ length }) => length > 1).length };
    })
    .toSorted((one, other) => other.ibans - one.ibans || other.several - one.several);
  return best?.delimiter ?? ',';
}

const delimiters = [',', ';', '\t', '|'];

/** The first rows. The text may end within a cell in quotation marks, which is then left out. */
function parseStart(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  const onRecord = (row: string[]) => {
    rows.push(row);
    return null;
  };
  try {
    parse(text.slice(0, sampleCharacters), { ...parseOptions, delimiter, on_record: onRecord });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
  }
  return rows;
}

const sampleCharacters = 100_000;

/** Enough to find a column that is often empty. */
const sampleRows = 1_000;

/** Right or wrong: with two letters, two digits, and about as many characters as IBANs of the country. */
function looksLikeIban(cell: string, lengths: IbanLengths): boolean {
  if (cell.length < 13 || cell.length > 60) return false;
  const iban = compactIban(cell);
  if (!/^[A-Z]{2}\d\d[A-Z0-9]{9,32}$/.test(iban)) return false;
  return lengths.size === 0 || Math.abs(iban.length - (lengths.get(iban.slice(0, 2)) ?? 0)) <= 2;
}

/** Positions of columns and rows, from 0. */
export interface Columns {
  /** Null if no column has IBANs. */
  iban: number | null;
  /** Other columns with IBANs. */
  others: readonly number[];
}

/**
 * The column with most IBANs. If several have about as many, it is the one with most different ones, since the account of the payer
 * is the same in each row.
 */
export function findColumns(rows: TextTable['rows'], lengths: IbanLengths): Columns {
  const counts = new Map<number, string[]>();
  for (const row of rows.slice(0, sampleRows)) {
    for (const [column, cell] of row.entries()) {
      if (looksLikeIban(cell, lengths)) counts.set(column, [...(counts.get(column) ?? []), compactIban(cell)]);
    }
  }
  const most = Math.max(0, ...[...counts.values()].map(({ length }) => length));
  const candidates = [...counts]
    .filter(([, ibans]) => ibans.length * 2 >= most)
    .map(([column, ibans]) => ({ column, distinct: new Set(ibans).size }))
    .toSorted((one, other) => other.distinct - one.distinct || one.column - other.column)
    .map(({ column }) => column);
  return { iban: candidates[0] ?? null, others: candidates.slice(1) };
}

/** The row with the titles, above the first IBAN of the column; null if there is none. */
export function findTitleRow(rows: TextTable['rows'], column: number, lengths: IbanLengths): number | null {
  const firstData = rows.findIndex((row) => looksLikeIban(row[column] ?? '', lengths));
  const above = rows.slice(0, firstData < 0 ? 1 : firstData);
  const named = above.findIndex((row) => accountWords.test(row[column] ?? ''));
  if (named >= 0) return named;
  const width = Math.max(0, ...above.map(({ length }) => length));
  const first = above.findIndex((row) => row.length === width && (row[column] ?? '').trim() !== '');
  return first >= 0 && !/\d/.test(above[first]?.[column] ?? '') ? first : null;
}

const accountWords = /iban|account|konto|compte|cuenta|conta|conto|rekening|rachun/i;

/** The name of each column: its title, otherwise its letter. */
export function nameColumns(rows: TextTable['rows'], titleRow: number | null): string[] {
  const titles = titleRow === null ? [] : (rows[titleRow] ?? []);
  const width = titles.length || Math.max(0, ...rows.slice(0, sampleRows).map(({ length }) => length));
  return Array.from({ length: width }, (_, column) => titles[column]?.trim() || letters(column));
}

function letters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : letters(Math.floor(column / 26) - 1) + last;
}

/** The position of the column with the names of the payees, by its title. */
export function findNameColumn(names: readonly string[]): number | null {
  const found = names.findIndex((name) => nameWords.test(name));
  return found < 0 ? null : found;
}

const nameWords =
  /name|payee|beneficiary|creditor|recipient|holder|empf|inhaber|\bnom\b|titulaire|nombre|titular|naam|nome/i;

/** The position of the column with the BICs: by its title, or because nearly all of its cells are BICs. */
export function findBicColumn(
  rows: TextTable['rows'],
  names: readonly string[],
  { titleRow, iban }: { titleRow: number | null; iban: number | null },
): number | null {
  const data = rows.slice((titleRow ?? -1) + 1).slice(0, sampleRows);
  const found = names.findIndex((name, column) => {
    if (column === iban) return false;
    if (/\b(?:bic|swift)\b/i.test(name)) return true;
    const cells = data.map((row) => row[column]?.trim() ?? '').filter((cell) => cell !== '');
    const bics = cells.filter((cell) => /^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(cell));
    // Some words of eight letters look like one.
    return bics.length >= 2 && bics.length * 10 >= cells.length * 9;
  });
  return found < 0 ? null : found;
}

export function isBlank(row: readonly string[]): boolean {
  return row.every((cell) => cell.trim() === '');
}

/**
 * The IBAN column of a pasted table, one IBAN a line, and its name. Null for a list of IBANs: a table has several rows, and a column
 * without any IBAN.
 */
export function readIbanColumn(text: string): { name: string; ibans: string } | null {
  try {
    const { rows } = parseTable(text, new Map());
    const { iban } = findColumns(rows, new Map());
    if (iban === null || rows.length < 2) return null;
    const titleRow = findTitleRow(rows, iban, new Map());
    const data = rows.slice((titleRow ?? -1) + 1).filter((row) => !isBlank(row));
    const names = nameColumns(rows, titleRow);
    const isText = (column: number) => {
      const cells = data.map((row) => row[column]?.trim() ?? '').filter((cell) => cell !== '');
      return cells.length * 2 >= data.length && !cells.some((cell) => looksLikeIban(cell, new Map()));
    };
    if (!names.some((_, column) => isText(column))) return null;
    const ibans = data.map((row) => row[iban]?.trim() ?? '').filter((cell) => cell !== '');
    return { name: names[iban] ?? '', ibans: ibans.join('\n') };
  } catch {
    return null;
  }
}
