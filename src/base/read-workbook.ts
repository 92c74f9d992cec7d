// cspell:ignore sharedstrings ymdhs
import { count } from './process/terminal.ts';
import {
  damaged,
  openParts,
  type Parts,
  parsePart,
  parseWhole,
  toOneLine,
  tooLarge,
  type WorkbookFile,
} from './workbook-parts.ts';

export interface WorkbookSheet {
  name: string;
  isHidden: boolean;
  /** All rows up to the last one with a cell: the n-th is row n of the sheet. Can be read once. @throws ErrorType */
  rows(): AsyncGenerator<WorkbookCells>;
}

/** Dates and times are ISO 8601 texts. */
type WorkbookCells = readonly (string | number)[];

/** Excel has the same limit. */
const maxCellLength = 32_767;
/** Excel allows as many as memory does. */
const maxSheets = 1_000;
/**
 * The sheets of an XLSX workbook, whose rows are streamed. Accepted is what programs write beside the standard: cells and rows without a
 * reference, several elements for one row, and paths in another case or with backslashes.
 * @throws ErrorType
 */
export async function readWorkbook(file: WorkbookFile): Promise<readonly WorkbookSheet[]> {
  const parts = await openParts(file);
  const path = parts.paths().find((each) => /^(?:.*\/)?workbook\.xml$/.test(each));
  if (path === undefined) throw damaged(file, 'it has no xl/workbook.xml');
  const { sheets, isSince1904 } = await readSheetList(parts, path);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const targets = await readTargets(parts, folder);
  const sharedPath = targets.find(({ type }) => type === 'sharedStrings')?.path ?? `${folder}sharedstrings.xml`;
  const stylesPath = targets.find(({ type }) => type === 'styles')?.path ?? `${folder}styles.xml`;
  const texts = parts.has(sharedPath) ? await readSharedTexts(parts, sharedPath) : [];
  const dateStyles = parts.has(stylesPath) ? await readDateStyles(parts, stylesPath) : new Set<number>();
  const content = { texts, dateStyles, isSince1904, leftOut: { rows: 0 } };
  const targetsById = new Map(targets.map((target) => [target.id, target]));
  const used = new Set<string>();
  return sheets.flatMap(({ name, id, isHidden }) => {
    const sheet = toOneLine(name);
    const target = targetsById.get(id);
    // The others are charts and dialogs.
    if (target?.type !== 'worksheet') return [];
    if (!parts.has(target.path)) throw damaged(file, `the sheet "${sheet}" is missing`);
    if (used.has(target.path)) throw damaged(file, `the sheet "${sheet}" has the part of another sheet`);
    used.add(target.path);
    return [{ name: sheet, isHidden, rows: () => readRows(parts, target.path, { ...content, sheet }) }];
  });
}

async function readSheetList(parts: Parts, path: string) {
  const sheets: { name: string; id: string; isHidden: boolean }[] = [];
  let isSince1904 = false;
  await parseWhole(parts, path, {
    open(name, attributes) {
      if (name === 'workbookPr') isSince1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '');
      if (name !== 'sheet') return;
      const id = Object.entries(attributes).find(([key]) => /^(?:.+:)id$/i.test(key))?.[1] ?? '';
      sheets.push({ name: attributes.name ?? '', id, isHidden: /hidden/i.test(attributes.state ?? '') });
      if (sheets.length > maxSheets) throw tooLarge(parts.file, `more than ${count(maxSheets)} sheets`);
    },
  });
  return { sheets, isSince1904 };
}

/** Where the parts of a workbook are. */
async function readTargets(parts: Parts, folder: string) {
  const targets: { id: string; type: string; path: string }[] = [];
  await parseWhole(parts, `${folder}_rels/workbook.xml.rels`, {
    open(name, { Id = '', Type = '', Target = '' }) {
      if (name !== 'Relationship') return;
      targets.push({
        id: Id,
        type: Type.slice(Type.lastIndexOf('/') + 1),
        path: resolvePath(parts.file, folder, Target),
      });
    },
  });
  return targets;
}

/** @param target a URL, relative to the folder */
function resolvePath(file: WorkbookFile, folder: string, target: string): string {
  const path = target.replaceAll('\\', '/').toLowerCase();
  try {
    return decodeURI(path.startsWith('/') ? path.slice(1) : new URL(path, `file:///${folder}`).pathname.slice(1));
  } catch {
    throw damaged(file, `${toOneLine(target)} is not the path of a part`);
  }
}

async function readSharedTexts(parts: Parts, path: string): Promise<readonly string[]> {
  const texts: string[] = [];
  const { file } = parts;
  const max = file.limits.sharedMillionCharacters;
  const reader = createTextReader();
  let characters = 0;
  await parseWhole(parts, path, {
    open: (name) => reader.open(name),
    text: reader.text,
    close(name) {
      reader.close(name);
      if (name !== 'si') return;
      const text = checkLength(file, file.name, reader.take());
      characters += text.length + 1;
      if (characters > max * 1_000_000) throw tooLarge(file, `more than ${max} million characters in texts`);
      texts.push(text);
    },
  });
  return texts;
}

/** The text of an element `si` or `is`: its runs one after the other, without how they are pronounced. */
function createTextReader() {
  let text = '';
  let isText = false;
  let isPhonetic = false;
  return {
    open(name: string) {
      if (name === 'rPh') isPhonetic = true;
      isText = name === 't' && !isPhonetic;
    },
    text(part: string) {
      if (isText) text += part;
    },
    close(name: string) {
      if (name === 'rPh') isPhonetic = false;
      isText = false;
    },
    take() {
      const taken = text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
      text = '';
      return taken;
    },
  };
}

function checkLength({ ErrorType }: WorkbookFile, place: string, text: string): string {
  if (text.length <= maxCellLength) return text;
  throw new ErrorType(`${place}: a text of more than ${count(maxCellLength)} characters, the limit for a cell`);
}

/** The styles of cells, by number, in which numbers are dates or times. */
async function readDateStyles(parts: Parts, path: string): Promise<ReadonlySet<number>> {
  const dateFormats = new Set<string>(builtInDateFormats.map(String));
  const styles = new Set<number>();
  let isInCellStyles = false;
  let style = 0;
  await parseWhole(parts, path, {
    open(name, { numFmtId = '', formatCode = '' }) {
      if (name === 'numFmt' && isDateFormat(formatCode)) dateFormats.add(numFmtId);
      if (name === 'cellXfs') isInCellStyles = true;
      if (name !== 'xf' || !isInCellStyles) return;
      if (dateFormats.has(numFmtId)) styles.add(style);
      style += 1;
    },
    close(name) {
      if (name === 'cellXfs') isInCellStyles = false;
    },
  });
  return styles;
}

/** ECMA-376, 18.8.30. */
const builtInDateFormats = [
  14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 45, 46, 47, 50, 51, 52, 53, 54, 55, 56,
  57, 58,
];

function isDateFormat(code: string): boolean {
  return /[ymdhs]/i.test(code.replace(/"[^"]*"|\\.|_.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, ''));
}

interface SheetContent {
  sheet: string;
  texts: readonly string[];
  dateStyles: ReadonlySet<number>;
  isSince1904: boolean;
  /** Rows of all sheets that are blank because the file does not have them, which costs it nothing. */
  leftOut: { rows: number };
}

async function* readRows(parts: Parts, path: string, content: SheetContent): AsyncGenerator<WorkbookCells> {
  const { file } = parts;
  const { limits } = file;
  const reader = createTextReader();
  const ready: SheetRow[] = [];
  let current: SheetRow = { row: 0, cells: [] };
  let cell = { column: -1, type: '', style: 0, value: '' };
  let isValue = false;
  let characters = 0;
  let written = 0;

  yield* parsePart(parts, path, { open, text, close }, takeReady);

  function open(name: string, attributes: Record<string, string>): void {
    isValue = name === 'v';
    if (name === 'row') beginRow(attributes.r);
    else if (name === 'c') beginCell(attributes);
    else reader.open(name);
  }

  function text(part: string): void {
    if (isValue) cell.value += part;
    else reader.text(part);
  }

  function close(name: string): void {
    isValue = false;
    reader.close(name);
    if (name === 'c') endCell();
    if (name === 'sheetData') endRow();
  }

  function beginRow(reference: string | undefined): void {
    const row = reference === undefined ? current.row + 1 : Number(reference);
    // Some programs write an element for each cell.
    if (row === current.row) return;
    if (!(row > current.row && Number.isSafeInteger(row))) {
      throw damaged(file, `a row ${toOneLine(String(reference))} follows row ${current.row}`);
    }
    endRow();
    current = { row, cells: [] };
    cell.column = -1;
  }

  function endRow(): void {
    if (current.cells.length > 0) ready.push(current);
    current = { row: current.row, cells: [] };
  }

  function beginCell({ r: reference, t: type = 'n', s: style = '0' }: Record<string, string>): void {
    const letters = reference === undefined ? '' : (/^\$?([A-Z]{1,3})\$?\d*$/i.exec(reference)?.[1] ?? null);
    if (letters === null) throw damaged(file, `row ${current.row} has a cell ${toOneLine(String(reference))}`);
    cell = { column: letters === '' ? cell.column + 1 : columnIndex(letters), type, style: Number(style), value: '' };
  }

  function endCell(): void {
    const place = `${file.name}, sheet "${content.sheet}", row ${count(current.row)}`;
    const value = checkLength(file, place, reader.take() || cell.value);
    const read = readValue(value, cell, content);
    if (read === null) throw damaged(file, `row ${current.row} has a cell whose text is missing`);
    if (read === '') return;
    characters += String(read).length;
    const excess = findExcess(limits, { row: current.row, column: cell.column, characters });
    if (excess !== null) {
      const advice = 'the limit for a sheet; remove rows or columns that are not needed';
      throw new file.ErrorType(`${place}: more than ${excess}, ${advice}`);
    }
    while (current.cells.length < cell.column) current.cells.push('');
    current.cells[cell.column] = read;
  }

  function* takeReady(): Generator<WorkbookCells> {
    for (const { row, cells } of ready.splice(0)) {
      content.leftOut.rows += row - written - 1;
      const max = limits.rows * maxLeftOutSheets;
      if (content.leftOut.rows > max) throw tooLarge(file, `more than ${count(max)} blank rows`);
      for (written += 1; written < row; written += 1) yield [];
      yield cells;
    }
  }
}

/** Null if it is a text that the workbook does not have. */
function readValue(
  value: string,
  { type, style }: { type: string; style: number },
  { texts, dateStyles, isSince1904 }: SheetContent,
): string | number | null {
  if (value === '' || type === 'inlineStr' || type === 'str' || type === 'e' || type === 'd') return value;
  if (type === 's') return texts[Number(value)] ?? null;
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  const number = Number(value);
  if (Number.isNaN(number)) return value;
  return dateStyles.has(style) ? toDateText(number, isSince1904) : number;
}

/** The limit that a sheet exceeds, in words. */
function findExcess(
  { rows, columns, sheetMillionCharacters: millions }: WorkbookFile['limits'],
  { row, column, characters }: { row: number; column: number; characters: number },
): string | null {
  if (row > rows) return `${count(rows)} rows`;
  if (column >= columns) return `${count(columns)} columns`;
  return characters > millions * 1_000_000 ? `${millions} million characters` : null;
}

/** A stray cell may be in the last row of some sheets. */
const maxLeftOutSheets = 4;

interface SheetRow {
  row: number;
  cells: (string | number)[];
}

/** The position of a column: 0 for A, 26 for AA. */
export function columnIndex(letters: string): number {
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/**
 * A day and a time as a spreadsheet counts them, in ISO 8601, such as 2026-11-30 12:00:00 for 46356.5. A number outside the calendar is an
 * error value there, too: it may be a bank code.
 */
function toDateText(days: number, isSince1904: boolean): string {
  const [, date = '', time = ''] =
    /^(.{10})T(.{8})/.exec(toIso(Math.round((days + (isSince1904 ? 1_462 : 0)) * secondsPerDay))) ?? [];
  if (date === '' || days < 0) return '#NUM!';
  if (days < 1 && !isSince1904) return time;
  return time === '00:00:00' ? date : `${date} ${time}`;
}

const secondsPerDay = 86_400;

/** Excel takes 1900 for a leap year, so the days before March have other dates. */
function toIso(seconds: number): string {
  const sinceEpoch = seconds - (seconds < 61 * secondsPerDay ? 25_568 : 25_569) * secondsPerDay;
  const date = new Date(sinceEpoch * 1_000);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 ? '' : date.toISOString();
}
