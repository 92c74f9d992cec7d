import { chain, take } from '../../../base/input-file.ts';
import { count } from '../../../base/process/terminal.ts';
import type { BankEntry } from '../../listed-bank.ts';
import { ImportError, type Row, type Sheet } from './bank-file.ts';
import { type BankFileFormat, type Column, cellText, maxQuoteLength, readBic, readCode } from './bank-file-format.ts';
import { isDecodedTwice } from './decode-bank-file.ts';

/** The rows of a directory, and the positions of its fields. */
export interface Table {
  place: string;
  /** By field. If a field has several, the first that is not empty is used. */
  positions: ReadonlyMap<string, readonly number[]>;
  /** Number of columns; null if unknown. */
  width: number | null;
  /** The header and the rows above it, or the rows above the first bank. */
  above: readonly Row[];
  rows: AsyncIterable<Row>;
}

/**
 * Finds the directory in the sheets of a file. If the column titles are known, it starts below the row that contains all
 * of them; otherwise with the first row that has a valid bank code or BIC, as a header has neither.
 * @throws ImportError if no sheet has it
 */
export async function findTable(sheets: readonly Sheet[], format: BankFileFormat, fileName: string): Promise<Table> {
  const hasTitles = titlesOf(format).length > 0;
  let found: readonly Row[] = [];
  for (const { place, rows } of sheets) {
    const iterator = rows[Symbol.asyncIterator]();
    const top = await take(iterator, (rows) => rows < lookAhead);
    const index = hasTitles ? findHeader(top, format) : findFirstRow(top, format);
    const first = top[index];
    if (first === undefined || format.matches?.(top) === false) {
      if (found.length === 0) found = top;
      continue;
    }
    const start = hasTitles ? index + 1 : index;
    return {
      place,
      positions: findPositions(first, format),
      width: hasFixedColumns(format) ? (format.width ?? first.cells.length) : null,
      above: top.slice(0, start),
      rows: chain(top.slice(start), iterator),
    };
  }
  throw new ImportError(`${fileName} does not look like ${format.title}: ${describeMismatch(format, found)}`);
}

/** Titles and notes take up a few rows; no directory starts further down. */
export const lookAhead = 20;

/** The alternative titles of each field that must have one of them. */
function titlesOf({ columns, optional = [] }: BankFileFormat): string[][] {
  return Object.entries(columns)
    .filter(([field]) => !optional.includes(field))
    .map(([, column]) => [column ?? []].flat().filter((each) => typeof each === 'string'))
    .filter((titles) => titles.length > 0);
}

/** Rows of workbooks, and entries of JSON and XML, have only the cells that are not empty. */
function hasFixedColumns({ layout }: BankFileFormat): boolean {
  return layout.kind === 'csv' || layout.kind === 'fixed-width';
}

/** Prefers a header cell that equals the title to one that contains it, such as `Postadresse / PLZ`. */
function findTitle({ cells }: Row, title: string): number {
  const [wanted, ...headers] = [title, ...cells.map(String)].map((text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim(),
  );
  const exact = headers.indexOf(wanted ?? '');
  return exact >= 0 ? exact : headers.findIndex((header) => ` ${header} `.includes(` ${wanted} `));
}

function findHeader(top: readonly Row[], format: BankFileFormat): number {
  const fields = titlesOf(format);
  return top.findIndex((row) => fields.every((titles) => titles.some((title) => findTitle(row, title) >= 0)));
}

function findPositions(header: Row, { columns }: BankFileFormat): Map<string, number[]> {
  return new Map(
    Object.entries(columns).map(([field, column]) => {
      const positions = [column ?? []]
        .flat()
        .map((each) => (typeof each === 'string' ? findTitle(header, each) : each))
        .filter((position) => position >= 0);
      return [field, positions];
    }),
  );
}

/**
 * The index of the first row with a bank. Rows before it may be invalid: unlike a title or a header, they have a digit or an
 * error value in their bank code, and a name.
 */
function findFirstRow(top: readonly Row[], { columns, code }: BankFileFormat): number {
  const textAt = ({ cells }: Row, column: Column | undefined) => cellText(cells[Number(column)] ?? '');
  const isBank = (row: Row) =>
    readCode(row.cells[Number(columns.code)] ?? '', code) !== null ||
    (/\d/.test(textAt(row, columns.code)) && Boolean(readBic(textAt(row, bicColumn))));
  const [bicColumn] = [columns.bic ?? []].flat();
  const mayBeCode = (text: string) => /\d/.test(text) || errorValue.test(text);
  const index = top.findIndex(isBank);
  const invalid = top.slice(0, Math.max(index, 0)).findIndex((row) => {
    const hasName = columns.name.some((column) => textAt(row, column) !== '');
    return mayBeCode(textAt(row, columns.code)) && hasName;
  });
  return invalid >= 0 ? invalid : index;
}

function describeMismatch(format: BankFileFormat, found: readonly Row[]): string {
  const { columns, code } = format;
  const titles = titlesOf(format).map((alternatives) => alternatives.join(' or '));
  const expected =
    titles.length > 0
      ? `columns ${titles.join(', ')}`
      : `the bank code (${code.description}) in column ${Number(columns.code) + 1} and the BIC in column ${Number(columns.bic) + 1}`;
  // The longest of the rows at the top is most likely the header.
  const longest = found.reduce<Row | null>(
    (row, next) => (next.cells.length > (row?.cells.length ?? 0) ? next : row),
    null,
  );
  const cells = longest?.cells.map(cellText).filter(Boolean).join(', ') ?? '';
  return `expected ${expected}, found ${cells === '' ? 'nothing' : cells.slice(0, maxQuoteLength)}`;
}

/** Three times the longest name in an official file. */
const maxFieldLength = 500;

/** The largest range of an official file: 3000 to 4999, of Danske Bank. */
const maxRangeCodes = 2_000;

type RowContent =
  /** In a row with a problem, the wrong field is empty. */
  | { entry: BankEntry; lastCode: string; listDate: string; problem?: string }
  /** Why a valid row is skipped, as a plural noun. */
  | { skipReason: string }
  /** Why a row is left out. */
  | { problem: string };

/**
 * The bank in a row, with the last of its bank codes and the date of the list; or why there is none. A field without
 * which the bank can be found is left empty if it is wrong.
 */
export function readRow(row: Row, table: Table, format: BankFileFormat): RowContent {
  if (row.problem !== undefined) return { problem: row.problem };
  const columns = countColumns(row, table.width);
  if (table.width !== null && columns !== table.width) {
    return { problem: `${columns} ${columns === 1 ? 'column' : 'columns'}; a row of this file has ${table.width}` };
  }

  const fields = Object.fromEntries(
    [...table.positions.keys()].map((field) => [field, cellText(cellOf(row, table, field))]),
  );
  const {
    code = '',
    name = '',
    bic: listedBic = '',
    zip = '',
    city = '',
    accountCheckMethod = '',
    ibanRule = '',
    listDate = '',
  } = fields;
  if (code === '') return { skipReason: 'rows without a bank code' };
  const [long] = Object.entries(fields).find(([, text]) => text.length > maxFieldLength) ?? [];
  if (long !== undefined) {
    return { problem: `the ${long} has more than ${maxFieldLength} characters, the limit for a field` };
  }
  const broken = Object.entries(fields).find(([field, text]) => field !== 'bic' && errorValue.test(text));
  if (broken !== undefined) return { problem: `the ${broken[0]} is the error value "${broken[1]}" of a spreadsheet` };
  const problem = format.findProblem?.(fields) ?? null;
  if (problem !== null) return { problem };
  const skipReason = format.findSkipReason?.(fields) ?? null;
  if (skipReason !== null) return { skipReason };

  const wrongCode = (text: string) => `the bank code is "${text}"; it must be ${format.code.description}`;
  const bankCode = readCode(cellOf(row, table, 'code'), format.code);
  if (bankCode === null) return { problem: wrongCode(code) };
  const lastCode = fields.lastCode ? readCode(cellOf(row, table, 'lastCode'), format.code) : bankCode;
  if (lastCode === null) return { problem: wrongCode(fields.lastCode ?? '') };
  if (lastCode < bankCode)
    return { problem: `the range of bank codes ends with ${lastCode}, before its start ${bankCode}` };
  const codes = bankCode === lastCode ? 1 : Number(lastCode) - Number(bankCode) + 1;
  if (codes > maxRangeCodes) {
    return {
      problem: `the range from ${bankCode} to ${lastCode} has more than ${count(maxRangeCodes)} bank codes, the limit`,
    };
  }

  const bic = readBic(listedBic);
  const entry: BankEntry = { bankCode, name, zip, city, bic: bic ?? '' };
  const problems = [];
  if (bic === null) {
    problems.push(
      `the BIC is "${listedBic}"; it must have 8 or 11 letters and digits, with a country code at positions 5 and 6`,
    );
  }
  for (const field of ['name', 'city'] as const) {
    if (!isDecodedTwice(entry[field])) continue;
    problems.push(`the ${field} is "${entry[field]}", in utf-8 that was read as windows-1252`);
    entry[field] = '';
  }
  if (/^[0-9A-Z]{2}$/.test(accountCheckMethod)) entry.accountCheckMethod = accountCheckMethod;
  else if (accountCheckMethod !== '') {
    problems.push(`the check digit method is "${accountCheckMethod}"; it must have 2 digits or capital letters`);
  }
  if (/^\d{6}$/.test(ibanRule)) entry.ibanRule = ibanRule;
  else if (ibanRule !== '') problems.push(`the IBAN rule is "${ibanRule}"; it must have 6 digits`);
  return { entry, lastCode, listDate, ...(problems.length > 0 && { problem: problems.join('; ') }) };
}

/** In place of the result of a formula. */
const errorValue = /^#(REF!|VALUE!|NULL!|NUM!|DIV\/0!|N\/A|NAME\?|SPILL!|CALC!)$/;

/** Ignores empty cells at the end of a row that is too long. */
function countColumns({ cells }: Row, width: number | null): number {
  const extra = cells.slice(width ?? 0);
  return extra.every((cell) => cellText(cell) === '') ? Math.min(cells.length, width ?? cells.length) : cells.length;
}

/** The first of a field's cells that is not empty. */
function cellOf({ cells }: Row, { positions }: Table, field: string): string | number {
  const candidates = positions.get(field)?.map((position) => cells[position] ?? '') ?? [];
  return candidates.find((cell) => cellText(cell) !== '') ?? '';
}
