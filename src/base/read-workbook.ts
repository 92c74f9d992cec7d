// cspell:ignore sharedstrings ymdhs
import { crc32 } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import type { FileErrorType } from './input-file.ts';
import { count } from './process/terminal.ts';

interface WorkbookFile {
  /** For messages. */
  name: string;
  archive: Buffer;
  ErrorType: FileErrorType;
  limits: {
    /** Of the parts that are read, together. */
    unpackedMb: number;
    /** Of the texts that cells share, which are in memory. */
    sharedMillionCharacters: number;
    /** Of a sheet: its cells may share a long text. */
    sheetMillionCharacters: number;
    /** Of a sheet, up to the last one with a cell. */
    rows: number;
    columns: number;
  };
}

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
/** Between two tags: the longest cell, and each of its characters written as a reference. */
const maxTextLength = 400_000;

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

function damaged({ name, ErrorType }: WorkbookFile, problem: string): Error {
  return new ErrorType(`${name} is not an XLSX workbook, or is damaged: ${problem}`);
}

/** The XML files in a workbook, by path in lower case. */
interface Parts {
  file: WorkbookFile;
  paths(): readonly string[];
  has(path: string): boolean;
  read(path: string): AsyncGenerator<Buffer>;
}

async function openParts(file: WorkbookFile): Promise<Parts> {
  const { name, archive, ErrorType, limits } = file;
  let freeBytes = limits.unpackedMb * 1_000_000;
  const entries = new Map<string, Entry>();
  let zip: ZipFile;
  try {
    // Sizes that are declared wrongly are found by the checksum.
    zip = await fromBufferPromise(archive, { validateEntrySizes: false });
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName.replaceAll('\\', '/').toLowerCase(), entry);
  } catch {
    throw damaged(file, 'the list of its files cannot be read; download the file again');
  }
  return { file, paths: () => [...entries.keys()], has: (path) => entries.has(path), read };

  async function* read(path: string): AsyncGenerator<Buffer> {
    const entry = entries.get(path);
    if (entry === undefined) throw damaged(file, `${path} is missing`);
    if (entry.isEncrypted()) throw new ErrorType(`${name} has a password; save it as XLSX without a password`);
    let checksum = 0;
    try {
      for await (const chunk of await zip.openReadStreamPromise(entry)) {
        checksum = crc32(chunk, checksum);
        freeBytes -= chunk.length;
        if (freeBytes < 0) throw tooLarge(file, `more than ${limits.unpackedMb} MB of XML`);
        yield chunk;
      }
    } catch (error) {
      if (error instanceof ErrorType) throw error;
      throw damaged(file, `${toOneLine(path)} cannot be read; download the file again`);
    }
    if (checksum !== entry.crc32) throw damaged(file, `${toOneLine(path)} has a wrong checksum`);
  }
}

function tooLarge({ name, ErrorType }: WorkbookFile, content: string): Error {
  return new ErrorType(`${name} has ${content}, the limit for a workbook; save the sheet that is needed as CSV`);
}

interface Handlers {
  /** @param name without prefix */
  open(name: string, attributes: Record<string, string>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Parses a part, and calls `afterPiece` after each piece of it. */
async function* parsePart<Item>(parts: Parts, path: string, handlers: Handlers, afterPiece: () => Iterable<Item>) {
  const { file } = parts;
  const part = toOneLine(path);
  const parser = new SaxesParser({ xmlns: false, position: false });
  const decoder = new TextDecoder();
  let lastEvent = 0;
  let depth = 0;
  const localName = (name: string) => name.slice(name.indexOf(':') + 1);
  parser.on('opentag', ({ name, attributes }) => {
    lastEvent = parser.position;
    depth += 1;
    if (depth > maxDepth) throw damaged(file, `${part} has more than ${maxDepth} tags in one another`);
    handlers.open(localName(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    lastEvent = parser.position;
    depth -= 1;
    handlers.close?.(localName(name));
  });
  if (handlers.text !== undefined) parser.on('text', handlers.text);
  parser.on('cdata', (text) => handlers.text?.(text));
  parser.on('doctype', () => {
    throw damaged(file, `${part} has a document type`);
  });
  parser.on('error', () => {
    throw damaged(file, `${part} is not well-formed`);
  });
  for await (const chunk of parts.read(path)) {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      parser.write(decoder.decode(chunk.subarray(at, at + pieceBytes), { stream: true }));
      if (parser.position - lastEvent > maxTextLength) {
        throw damaged(file, `${part} has a text or tag of more than ${count(maxTextLength)} characters`);
      }
      yield* afterPiece();
    }
  }
  parser.close();
  yield* afterPiece();
}

const pieceBytes = 65_536;
/** Workbooks have fewer than ten. */
const maxDepth = 100;

async function parseWhole(parts: Parts, path: string, handlers: Handlers): Promise<void> {
  // The handlers read everything, so there are no rows.
  for await (const _ of parsePart(parts, path, handlers, () => []));
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

  yield* parsePart(
    parts,
    path,
    {
      open(name, attributes) {
        if (name === 'row') return beginRow(attributes.r);
        if (name === 'c') return beginCell(attributes);
        isValue = name === 'v';
        reader.open(name);
      },
      text(text) {
        if (isValue) cell.value += text;
        else reader.text(text);
      },
      close(name) {
        isValue = false;
        reader.close(name);
        if (name === 'c') endCell();
        if (name === 'sheetData') endRow();
      },
    },
    takeReady,
  );

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
    const value = checkLength(file, place(), reader.take() || cell.value);
    const read = readValue(value);
    if (read === '') return;
    if (current.row > limits.rows) throw excess(`more than ${count(limits.rows)} rows`);
    if (cell.column >= limits.columns) throw excess(`more than ${count(limits.columns)} columns`);
    characters += String(read).length;
    const max = limits.sheetMillionCharacters;
    if (characters > max * 1_000_000) throw excess(`more than ${max} million characters`);
    while (current.cells.length < cell.column) current.cells.push('');
    current.cells[cell.column] = read;
  }

  function place(): string {
    return `${file.name}, sheet "${content.sheet}", row ${count(current.row)}`;
  }

  function excess(what: string): Error {
    return new file.ErrorType(`${place()}: ${what}, the limit for a sheet; remove rows or columns that are not needed`);
  }

  function readValue(value: string): string | number {
    const { type, style } = cell;
    if (value === '' || type === 'inlineStr' || type === 'str' || type === 'e' || type === 'd') return value;
    if (type === 's') {
      const text = content.texts[Number(value)];
      if (text === undefined) throw damaged(file, `row ${current.row} has a cell whose text is missing`);
      return text;
    }
    if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
    const number = Number(value);
    if (Number.isNaN(number)) return value;
    return content.dateStyles.has(style) ? toDateText(number, content.isSince1904) : number;
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

function toOneLine(text: string): string {
  const printable = text.replace(/\p{Cf}+/gu, '').replace(/[\s\p{C}]+/gu, ' ');
  return printable.trim().slice(0, maxQuoteLength);
}

/** In characters: what a message repeats of a file. */
const maxQuoteLength = 100;
