import { columnIndex } from '../base/read-workbook.ts';
import { compactBic, findBicProblems } from '../iban/bic.ts';
import {
  accountWords,
  findParty,
  isDetail,
  isOfOthers,
  isTitleOfAccounts,
  isTitleOfIbans,
  type Party,
  rankName,
  restOf,
  wordsOf,
} from './column-titles.ts';
import { type Cell, type Cells, cellText, isBehindWords, looksLikeIban, readIbanCell } from './iban-cells.ts';
import { PaymentFileError } from './open-file.ts';

/** Positions of columns, from 0. */
export interface Columns {
  /** Those that are checked, the payees' first; empty if there are none. */
  ibans: readonly IbanColumn[];
  name: number | null;
  /** Amounts, account numbers and bank codes, which tell people the payment of a row. */
  details: readonly number[];
  /** The number of the row with the titles, from 1; null if the table has none. */
  titleRow: number | null;
  /** The title of each column; its letter if it has none, or a long one. */
  titles: readonly string[];
  /** Other columns with IBANs, which `--column` leaves out. */
  notChecked: readonly number[];
  /** Whether all other IBANs in the table are to be reported: the columns were found, not named. */
  isWhole: boolean;
  /** The first column of an earlier result, which ends with the titles: the new result replaces it. */
  earlierResult: number | null;
}

export interface IbanColumn {
  column: number;
  /** Whose accounts they are, as far as titles or contents tell. */
  party: Party | null;
  /** The column with the BICs of these IBANs. */
  bic: number | null;
  /** Whether the IBANs are within texts, of which some may have none. */
  isText: boolean;
}

/** Columns as the command names them: by title, letter or number; null: found by content. */
export interface ColumnNames {
  iban: string | null;
  bic: string | null;
  name: string | null;
}

/**
 * Finds the columns by the first rows of a table. Columns with IBANs have them in half of their cells, or a title that says so and
 * nothing else.
 * @throws PaymentFileError if a name matches no column
 */
export function findColumns(fileName: string, rows: readonly Cells[], names: ColumnNames): Columns {
  const counts = countCells(rows);
  const titleRow = findTitleRow(rows, counts, names.iban);
  const titles = readTitles(rows, titleRow);
  const labels = titles.map((title, column) => (isLabel(title) ? title : columnLetters(column)));
  const find = (name: string) => findNamed(fileName, name, { titles, width: counts.length });
  const earlierResult = findEarlierResult(titles);
  const isOwn = (column: number) => earlierResult === null || column < earlierResult;

  const data = titleRow === null ? rows : rows.slice(titleRow);
  const dataCounts = titleRow === null ? counts : countCells(data);
  const found = findIbanColumns(titles, dataCounts).filter(({ column }) => isOwn(column));
  const choose = (column: number) =>
    found.find((each) => each.column === column) ?? { column, party: null, bic: null, isText: false };
  const chosen = names.iban === null ? found : [choose(find(names.iban))];
  const taken = new Set(chosen.map(({ column }) => column));
  const isFree = (column: number) => isOwn(column) && !taken.has(column);
  const others = titles.map((_, column) => column).filter(isFree);
  const isBic = (column: number) => isBicColumn(titles[column], data, column);
  const bics = names.bic === null ? others.filter(isBic).slice(0, maxBicColumns) : [find(names.bic)];
  const free = others.filter((column) => !bics.includes(column));
  const party = chosen[0]?.party ?? 'payee';
  const mayBeNames = free.filter((column) => !isOfOthers(wordsOf(titles[column]), party));
  const titled = mayBeNames
    .flatMap((column) => rankName(wordsOf(titles[column]), party).map((rank) => ({ column, rank })))
    .toSorted((one, other) => one.rank - other.rank)
    .find(({ column }) => !hasOnlyNumbers(data, column));
  const findName = () => titled?.column ?? mayBeNames.find((column) => isNameColumn(data, column)) ?? null;
  const name = names.name !== null ? find(names.name) : findName();
  const details = free.filter((column) => column !== name && isDetail(wordsOf(titles[column]))).slice(0, maxDetails);
  const setBic = (iban: IbanColumn, index: number) => (index === 0 ? { ...iban, bic: bics[0] ?? null } : iban);
  const ibans = names.bic === null ? pairBics(chosen, bics, titles) : chosen.map(setBic);
  const notChecked = found.filter(({ column }) => isFree(column)).map(({ column }) => column);
  return { ibans, name, details, titleRow, titles: labels, notChecked, isWhole: names.iban === null, earlierResult };
}

const maxDetails = 4;

type CellCount = ReturnType<typeof noCells>;

function countCells(rows: readonly Cells[]): readonly CellCount[] {
  const counts: CellCount[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      counts[column] ??= noCells();
      const count = counts[column];
      if (cell === '') continue;
      count.filled += 1;
      if (!looksLikeIban(cell)) continue;
      count.ibans += 1;
      count.texts += Number(isBehindWords(cell));
      count.distinct.add(readIbanCell(cell));
    }
  }
  return counts;
}

/** What a column has in the first rows; texts: IBANs behind other words. */
function noCells() {
  return { filled: 0, ibans: 0, texts: 0, distinct: new Set<string>() };
}

/** The payees' first, then those with most different IBANs. */
function findIbanColumns(titles: readonly string[], counts: readonly CellCount[]): IbanColumn[] {
  const all = Array.from({ length: Math.max(titles.length, counts.length) }, (_, column) => ({
    column,
    words: wordsOf(titles[column]),
    ...(counts[column] ?? noCells()),
  }));
  const candidates = all.filter(({ words, filled, ibans }) => {
    if (ibans === 0) return isTitleOfIbans(words);
    return ibans * 2 >= filled || isTitleOfAccounts(words);
  });
  const rank = { payee: 0, other: 1, payer: 2 };
  const changes = candidates.some(({ distinct }) => distinct.size > 1);
  const largest = Math.max(0, ...candidates.map(({ ibans }) => ibans));
  return candidates
    .map((each) => {
      // The account of the payer is the same in each row.
      const isConstant = changes && each.distinct.size === 1 && each.ibans > 2 && each.ibans >= largest;
      const isText = each.texts * 2 > each.ibans && !accountWords.test(each.words);
      return { ...each, isText, party: findParty(each.words) ?? (isConstant ? 'payer' : null) };
    })
    .toSorted(
      (one, other) =>
        rank[one.party ?? 'other'] - rank[other.party ?? 'other'] ||
        Number(one.isText) - Number(other.isText) ||
        Number(other.ibans * 2 >= largest) - Number(one.ibans * 2 >= largest) ||
        other.distinct.size - one.distinct.size ||
        one.column - other.column,
    )
    .map(({ column, party, isText }) => ({ column, party, bic: null, isText }));
}

/**
 * Each column of BICs belongs to the IBANs of which the title says the same beside IBAN or BIC, or of the same party, otherwise to the
 * first ones: never to those of the other party.
 */
function pairBics(ibans: readonly IbanColumn[], bics: readonly number[], titles: readonly string[]): IbanColumn[] {
  const paired = ibans.map((iban) => ({ ...iban, rest: restOf(wordsOf(titles[iban.column])) }));
  const described = bics.map((bic) => {
    const words = wordsOf(titles[bic]);
    return { bic, rest: restOf(words), party: findParty(words) };
  });
  const isOfParty = ({ party }: { party: Party | null }) => Number(party !== null);
  for (const { bic, rest, party } of described.toSorted((one, other) => isOfParty(other) - isOfParty(one))) {
    const free = paired.filter((iban) => iban.bic === null && (!party || !iban.party || iban.party === party));
    const sameParty = party && free.find((iban) => iban.party === party);
    const partner = free.find((iban) => iban.rest === rest) ?? sameParty ?? free[0];
    if (partner !== undefined) partner.bic = bic;
  }
  return paired.map(({ rest: _, ...iban }) => iban);
}

/** Titles such as BIC 1 to BIC 9 are common, a hundred are not. */
const maxBicColumns = 20;

/**
 * The number of the row with the titles, from 1; null if there is none. The own account may be above it, as may be notes, whose rows
 * have fewer cells.
 */
function findTitleRow(rows: readonly Cells[], counts: readonly CellCount[], name: string | null): number | null {
  const position = name === null ? null : readPosition(name, counts.length);
  const most = counts.reduce((best, count, column) => (count.ibans > (counts[best]?.ibans ?? 0) ? column : best), 0);
  const column = position ?? ((counts[most]?.ibans ?? 0) > 0 ? most : null);
  const filled = rows.map(countFilled);
  const hasIban = rows.map((row) => row.some(looksLikeIban));
  const widths = filled.filter((_, index) => hasIban[index]).toSorted((one, other) => one - other);
  const usual = widths[widths.length >> 1] ?? 0;
  const isNote = (width: number) => width <= maxNoteCells && usual > maxNoteCells;
  const firstData = filled.findIndex((width, index) => hasIban[index] && !isNote(width));
  const above = rows.slice(0, firstData < 0 ? rows.length : firstData);
  const findWidest = (isTitleRow: (row: Cells) => boolean) => {
    const titleWidths = above.map((row, index) => (isTitleRow(row) ? (filled[index] ?? 0) : 0));
    const most = Math.max(0, ...titleWidths);
    return most > 0 ? titleWidths.indexOf(most) + 1 : null;
  };
  const isNamed = (row: Cells) => row.some((cell) => isTitle(cell, name ?? ''));
  const named = name === null ? null : findWidest(isNamed);
  if (named !== null) return named;
  // A cell of the data may be as the position: 2, or B.
  const later = name !== null && position === null ? rows.findIndex(isNamed) : -1;
  if (later >= 0) return later + 1;
  const isOfIbans = (row: Cells) => row.some((cell) => isTitleOfIbans(wordsOf(cellText(cell))));
  const titled = name === null ? findWidest((row) => isOfIbans(row) && !row.some(looksLikeIban)) : null;
  if (titled !== null) return titled;
  const isAccount = (cells: Cells) => {
    const texts = (column === null ? cells : [cells[column]]).filter((cell) => !looksLikeIban(cell));
    return texts.some((cell) => accountWords.test(wordsOf(String(cell ?? ''))));
  };
  const ofAccounts = findWidest(isAccount);
  if (ofAccounts !== null) return ofAccounts;
  if (column === null) return null;
  const widest = Math.max(0, ...above.map((row) => row.length));
  const first = above.findIndex((row) => row.length === widest && String(row[column] ?? '').trim() !== '');
  return first >= 0 && !/\d/.test(String(above[first]?.[column])) ? first + 1 : null;
}

/** A label and a value above the titles. */
const maxNoteCells = 2;

function countFilled(row: Cells): number {
  return row.reduce<number>((sum, cell) => sum + Number(cell !== '' && String(cell).trim() !== ''), 0);
}

/** Where titles are in two rows, those without one have that of the row above. */
function readTitles(rows: readonly Cells[], titleRow: number | null): string[] {
  if (titleRow === null) {
    return Array.from({ length: Math.max(0, ...rows.map((row) => row.length)) }, () => '');
  }
  const cells = rows[titleRow - 1] ?? [];
  const above = rows[titleRow - 2] ?? [];
  const isSecond = above.length === cells.length && countFilled(above) > 1 && !above.some(looksLikeIban);
  return cells.map((cell, column) => {
    const title = cellText(cell).trim();
    return title === '' && isSecond ? cellText(above[column]).trim() : title;
  });
}

/** The titles that a result adds for each column of IBANs; from the second one on, with a number: status_2. */
export const resultTitles = [
  'status',
  'problems',
  'suggestion',
  'bank',
  'bic',
  'bic_match',
  'national_check',
  'iban',
] as const;

/** Titles of an earlier result at the end of the table. */
function findEarlierResult(titles: readonly string[]): number | null {
  const start = titles.findIndex((_, column) => resultTitles.every((title, index) => titles[column + index] === title));
  const isResult = (title: string) => resultTitles.some((each) => title.replace(/_\d+$/, '') === each);
  return start >= 0 && titles.slice(start).every(isResult) ? start : null;
}

/** Labels are repeated in each finding of a row, and contain no IBAN. */
function isLabel(title: string): boolean {
  return title !== '' && title.length <= maxLabelLength && !looksLikeIban(title);
}

const maxLabelLength = 100;

function findNamed(
  fileName: string,
  name: string,
  { titles, width }: { titles: readonly string[]; width: number },
): number {
  const titled = titles.findIndex((title) => isTitle(title, name));
  if (titled >= 0) return titled;
  const position = readPosition(name, width);
  if (position !== null) return position;
  const known = titles.filter(isLabel);
  const list = known.length === 0 ? 'it has no titles' : `its titles are ${known.slice(0, maxListed).join(', ')}`;
  throw new PaymentFileError(
    `${fileName} has no column ${JSON.stringify(name)}: ${list}; a letter such as B or a number from 1 names a column, too`,
  );
}

const maxListed = 20;

function isTitle(cell: Cell, name: string | null): boolean {
  return String(cell).trim().toLowerCase() === name?.trim().toLowerCase();
}

/**
 * The position that a letter or a number names: 0 for A and 1, 26 for AA; null for another text, or a position behind the table: NR is
 * a wrong title.
 */
function readPosition(name: string, width: number): number | null {
  const text = name.trim().toUpperCase();
  const isLetters = /^[A-Z]{1,3}$/.test(text);
  if (!isLetters && !/^[1-9]\d{0,4}$/.test(text)) return null;
  const position = isLetters ? columnIndex(text) : Number(text) - 1;
  return position < width ? position : null;
}

export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last;
}

/** By its title, or because nearly all of its cells are BICs: some words of eight letters look like one. */
function isBicColumn(title: string | undefined, rows: readonly Cells[], column: number): boolean {
  if (/\b(?:bic|swift)\b/.test(wordsOf(title))) return true;
  const cells = textsOf(rows, column);
  const bics = cells.filter(
    (cell) => /^[A-Z]{6}[A-Z0-9]{2,5}$/.test(cell) && findBicProblems(compactBic(cell)).length === 0,
  );
  return bics.length >= 2 && bics.length * 10 >= cells.length * 9;
}

function hasOnlyNumbers(rows: readonly Cells[], column: number): boolean {
  const cells = textsOf(rows, column);
  return cells.length > 0 && !cells.some((cell) => /\p{L}/u.test(cell));
}

/** Several words of letters in most cells, and no digits. */
function isNameColumn(rows: readonly Cells[], column: number): boolean {
  const cells = textsOf(rows, column);
  const names = cells.filter((cell) => /^\p{L}[\p{L}.,&'-]* +\p{L}[\p{L} .,&'-]*$/u.test(cell));
  return names.length > 0 && names.length * 4 >= cells.length * 3;
}

function textsOf(rows: readonly Cells[], column: number): string[] {
  return rows.map((row) => String(row[column] ?? '').trim()).filter((text) => text !== '');
}
