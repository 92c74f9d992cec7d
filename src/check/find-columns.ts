import { type InTimeSlice, runAtOnce } from '../base/async/time-slices.ts';
import { compactBic, findBicProblems } from '../iban/bic.ts';
import { compactIban, isValidIban } from '../iban/iban.ts';
import { findCountryFormat } from '../iban/registry.ts';
import { PaymentFileError } from './open-file.ts';

/** Only workbooks contain numbers. */
export type Cell = string | number;

/** A row of a table; a blank one has no cells, or empty ones. */
export type Cells = readonly Cell[];

/** Positions of columns, from 0. */
export interface Columns {
  iban: number;
  bic: number | null;
  name: number | null;
  /** The number of the row with the titles, from 1; null if the table has none. */
  titleRow: number | null;
  /** The title of each column; its letter if it has none, or a long one. */
  titles: readonly string[];
  /** The titles of other columns with IBANs. */
  otherIbanColumns: readonly string[];
}

/** Columns as the command names them: by title, letter or number; null: found by content. */
export interface ColumnNames {
  iban: string | null;
  bic: string | null;
  name: string | null;
}

/**
 * Finds the columns by the first rows of a table. The IBANs are in the column with most of them; if several have about as many, in
 * the one with most different ones: the account of the payer is the same in each row.
 * @throws PaymentFileError if no column has IBANs, or a name matches none
 */
export async function findColumns(
  fileName: string,
  rows: readonly Cells[],
  names: ColumnNames,
  inTimeSlice: InTimeSlice = runAtOnce,
): Promise<Columns> {
  const findIndex: FindIndex = async (items, matches) => {
    for (const [index, item] of items.entries()) if (await inTimeSlice(() => matches(item))) return index;
    return -1;
  };
  const counts = await countIbans(rows, inTimeSlice);
  const most = Math.max(0, ...counts.map(({ size }) => size));
  const candidates = counts.flatMap(({ size, distinct }, column) =>
    size > 0 && size * 2 >= most ? [{ column, distinct }] : [],
  );
  const isNamed = (row: Cells) => row.some((cell) => isTitle(cell, names.iban));
  const named = names.iban === null ? -1 : await findIndex(rows, isNamed);
  const position = names.iban === null ? null : readPosition(names.iban);
  const titleColumn = position ?? candidates[0]?.column ?? null;
  const titleRow = named >= 0 ? named + 1 : await findTitleRow(rows, titleColumn, findIndex);
  const titleCells = titleRow === null ? null : (rows[titleRow - 1] ?? []);
  const width = titleCells?.length ?? Math.max(0, ...rows.map((row) => row.length));
  const titles = Array.from({ length: width }, (_, column) => String(titleCells?.[column] ?? '').trim());
  const find = (name: string) => findNamed(fileName, name, titles);

  const likeliest = candidates.toSorted((one, other) => other.distinct - one.distinct)[0]?.column;
  const titled = titles.findIndex((title) => /\biban\b/i.test(title));
  const iban = names.iban === null ? (likeliest ?? titled) : find(names.iban);
  if (iban < 0) {
    throw new PaymentFileError(
      `no column of ${fileName} has IBANs in its first ${rows.length} rows; name the column with --column`,
    );
  }
  const data = titleRow === null ? rows : rows.slice(titleRow);
  const others = titles.map((_, column) => column).filter((column) => column !== iban);
  const findColumn = async (columns: readonly number[], matches: (column: number) => boolean) =>
    columns[await findIndex(columns, matches)] ?? null;
  const isBic = (column: number) => isBicColumn(titles[column], data, column);
  const bic = names.bic === null ? await findColumn(others, isBic) : find(names.bic);
  const free = others.filter((column) => column !== bic);
  const name =
    names.name === null
      ? ((await findColumn(free, (column) => nameWords.test(titles[column] ?? ''))) ??
        (await findColumn(free, (column) => isNameColumn(data, column))))
      : find(names.name);
  const labels = titles.map((title, column) => (isLabel(title) ? title : columnLetters(column)));
  const otherIbanColumns = candidates.flatMap(({ column }) =>
    column === iban ? [] : [labels[column] ?? columnLetters(column)],
  );
  return { iban, bic, name, titleRow, titles: labels, otherIbanColumns };
}

/** The index of the first item that matches, or -1. Each item is looked at in a time slice. */
type FindIndex = <Item>(items: readonly Item[], matches: (item: Item) => boolean) => Promise<number>;

/** Labels are repeated in each finding of a row. */
function isLabel(title: string): boolean {
  return title !== '' && title.length <= maxLabelLength;
}

const maxLabelLength = 100;

/** The positions of the cells of a row that look like an IBAN, right or wrong. */
export function findIbanCells(row: Cells): number[] {
  return row.flatMap((cell, column) => (looksLikeIban(cell) ? [column] : []));
}

function looksLikeIban(cell: string | number | undefined): boolean {
  if (typeof cell !== 'string' || cell.length < shortestIban || cell.length > longestCell) return false;
  const iban = compactIban(cell);
  if (isValidIban(iban)) return true;
  const length = findCountryFormat(iban.slice(0, 2))?.length ?? 0;
  return Math.abs(iban.length - length) <= 2 && /^[A-Z]{2}\d\d[A-Z0-9]+$/.test(iban);
}

/** Norwegian IBANs have 15 characters; an IBAN of Malta with spaces and a label has fewer than 60. */
const shortestIban = 15;
const longestCell = 60;

async function countIbans(
  rows: readonly Cells[],
  inTimeSlice: InTimeSlice,
): Promise<{ size: number; distinct: number }[]> {
  const counts: { size: number; values: Set<string> }[] = [];
  for (const row of rows) {
    for (const column of await inTimeSlice(() => findIbanCells(row))) {
      while (counts.length <= column) counts.push({ size: 0, values: new Set() });
      const count = counts[column];
      if (count === undefined) continue;
      count.size += 1;
      count.values.add(compactIban(String(row[column])));
    }
  }
  return counts.map(({ size, values }) => ({ size, distinct: values.size }));
}

/**
 * The row with the titles, from 1: above the first row with an IBAN, the first row whose title of that column is a word for it,
 * otherwise the first row with several cells, if it has no digit in that column.
 */
async function findTitleRow(
  rows: readonly Cells[],
  column: number | null,
  findIndex: FindIndex,
): Promise<number | null> {
  const firstData = await findIndex(rows, (row) => findIbanCells(row).length > 0);
  const above = rows.slice(0, firstData < 0 ? rows.length : firstData);
  const isAccount = (cells: Cells) =>
    column === null
      ? cells.some((cell) => accountWords.test(String(cell)))
      : accountWords.test(String(cells[column] ?? ''));
  const named = await findIndex(above, isAccount);
  if (named >= 0 || column === null) return named < 0 ? null : named + 1;
  const widest = Math.max(0, ...above.map((row) => row.length));
  const first = above.findIndex((row) => row.length === widest && String(row[column] ?? '').trim() !== '');
  return first >= 0 && !/\d/.test(String(above[first]?.[column])) ? first + 1 : null;
}

const accountWords = /iban|account|konto|compte|cuenta|conta|conto|rekening|rachun/i;

function findNamed(fileName: string, name: string, titles: readonly string[]): number {
  const titled = titles.findIndex((title) => isTitle(title, name));
  if (titled >= 0) return titled;
  const position = readPosition(name);
  if (position !== null) return position;
  const known = titles.filter(isLabel);
  const list = known.length === 0 ? 'it has no titles' : `its titles are ${known.slice(0, maxListed).join(', ')}`;
  throw new PaymentFileError(
    `${fileName} has no column ${JSON.stringify(name)}: ${list}; a letter such as B or a number from 1 names a column, too`,
  );
}

const maxListed = 20;

function isTitle(cell: string | number, name: string | null): boolean {
  return String(cell).trim().toLowerCase() === name?.trim().toLowerCase();
}

/** The position that a letter or a number names: 0 for A and 1, 26 for AA; null for another text. */
function readPosition(name: string): number | null {
  const text = name.trim().toUpperCase();
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text) - 1;
  if (!/^[A-Z]{1,3}$/.test(text)) return null;
  return [...text].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last;
}

/** By its title, or because nearly all of its cells are BICs: some words of eight letters look like one. */
function isBicColumn(title: string | undefined, rows: readonly Cells[], column: number): boolean {
  if (/\b(?:bic|swift)\b/i.test(title ?? '')) return true;
  const cells = textsOf(rows, column);
  const bics = cells.filter(
    (cell) => /^[A-Z]{6}[A-Z0-9]{2,5}$/.test(cell) && findBicProblems(compactBic(cell)).length === 0,
  );
  return bics.length >= 2 && bics.length * 10 >= cells.length * 9;
}

const nameWords =
  /name|payee|beneficiary|creditor|recipient|holder|empf|inhaber|beg.nstigte|\bnom\b|titulaire|b.n.ficiaire|nombre|beneficiari|titular|naam|nome/i;

/** Several words of letters in most cells, and no digits. */
function isNameColumn(rows: readonly Cells[], column: number): boolean {
  const cells = textsOf(rows, column);
  const names = cells.filter((cell) => /^\p{L}[\p{L}.,&'-]* +\p{L}[\p{L} .,&'-]*$/u.test(cell));
  return names.length > 0 && names.length * 4 >= cells.length * 3;
}

function textsOf(rows: readonly Cells[], column: number): string[] {
  return rows.map((row) => String(row[column] ?? '').trim()).filter((text) => text !== '');
}
