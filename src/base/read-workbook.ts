import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import readParts, { type CellValue, type Row as PackageRow } from 'read-excel-file/node';
import { fromBufferPromise } from 'yauzl';
import { type FileErrorType, recognizeKind } from './input-file.ts';
import { count } from './process/terminal.ts';

interface WorkbookFile {
  /** For messages. */
  name: string;
  archive: Buffer;
  ErrorType: FileErrorType;
  limits: {
    /** Of all parts together, in MB. */
    unpackedMb: number;
    /** Of a sheet. */
    rows: number;
    /** Of a sheet, with the empty cells before and between others. */
    cells: number;
    /** Of a part. */
    tags: number;
    /** Of a sheet: cells may share a long text. */
    millionCharacters: number;
  };
  /** The end of messages about the limits of a workbook or sheet: `; save it as CSV`. */
  limitAdvice?: string;
}

/** The rows can be read once. */
export interface WorkbookSheet {
  /** For messages, before the number of a row: `sheet "Banks", row`. */
  place: string;
  /** Without blank ones. */
  rows: Iterable<WorkbookRow>;
}

interface WorkbookRow {
  /** Dates are ISO 8601 texts. */
  cells: readonly (string | number)[];
  /** From 1, as in a spreadsheet. */
  line: number;
}

/**
 * The sheets of an XLSX workbook. The format requires to unpack the whole file in memory, within these limits.
 * @throws ErrorType, also while its rows are read
 */
export async function readWorkbook(file: WorkbookFile): Promise<readonly WorkbookSheet[]> {
  const { name, archive, ErrorType } = file;
  if (recognizeKind(archive.subarray(0, 4)) === 'old-workbook') {
    throw new ErrorType(`${name} is in the old XLS format or has a password; save it as XLSX without a password`);
  }
  if (archive.subarray(0, 2).toString('latin1') !== 'PK') throw new ErrorType(`${name} is not an XLSX workbook`);
  const parts = await unpackParts(file);
  const sheets = await readParts(packParts(parts), { trim: false }).catch((error: unknown) => {
    // Its other errors are about the code of the package, not about the file.
    const isAboutFile = error instanceof Error && error.name === 'InvalidSpreadsheetError';
    throw damaged(file, isAboutFile ? error.message : 'its XML is not that of a workbook');
  });
  // A sheet without data is a chart.
  return sheets.map(({ sheet, data = [] }) => {
    const place = `sheet "${toOneLine(sheet)}", row`;
    return { place, rows: rowsOf(data, `${name}, ${place}`, file) };
  });
}

function damaged({ name, ErrorType }: WorkbookFile, problem: string): Error {
  return new ErrorType(`${name} is not an XLSX workbook, or is damaged: ${toOneLine(problem)}`);
}

/** The XML files in a workbook, by path. The sizes that the archive declares are not trusted. */
async function unpackParts(file: WorkbookFile): Promise<ReadonlyMap<string, Buffer>> {
  const { name, archive, ErrorType, limits, limitAdvice = '' } = file;
  const parts = new Map<string, Buffer>();
  let path = 'the list of its files';
  let freeBytes = limits.unpackedMb * 1_000_000;
  try {
    const zip = await fromBufferPromise(archive, { validateEntrySizes: false });
    for await (const entry of zip.eachEntry()) {
      path = entry.fileName;
      // The others describe the document and its author.
      if (!/^xl\/.*\.xml(\.rels)?$/.test(path)) continue;
      if (entry.isEncrypted()) throw new ErrorType(`${name} has a password; save it as XLSX without a password`);
      const chunks: Buffer[] = [];
      for await (const chunk of await zip.openReadStreamPromise(entry)) {
        freeBytes -= chunk.length;
        if (freeBytes < 0) {
          const limit = `more than ${limits.unpackedMb} MB, the limit for a workbook`;
          throw new ErrorType(`${name} unpacks to ${limit}${limitAdvice}`);
        }
        chunks.push(chunk);
      }
      const content = Buffer.concat(chunks);
      if (crc32(content) !== entry.crc32) throw damaged(file, `${path} has a wrong checksum`);
      parts.set(path, checkPart(file, path, content));
    }
  } catch (error) {
    if (error instanceof ErrorType) throw error;
    throw damaged(file, `${path} cannot be read; download the file again`);
  }
  return parts;
}

const maxSheets = 1_000;

/** A text and the tag before it, in bytes: the longest cell of Excel has 32,767 characters. */
const maxTextBytes = 200_000;

/**
 * A part without its comments, and without empty cells and rows, as formatting may reach to the end of a sheet. Errors of
 * formulas, such as `#REF!`, are texts, as `read-excel-file` would read empty cells. Rejected is
 * what `read-excel-file` reads with much memory or time: cells that are far from others, since it creates all cells between
 * them, long texts and many tags.
 */
function checkPart(file: WorkbookFile, path: string, content: Buffer): Buffer {
  const { name, ErrorType, limits, limitAdvice = '' } = file;
  const part = toOneLine(path);
  const tooMany = (found: string) =>
    new ErrorType(`${name}: ${part} has more than ${found}, the limit for a workbook${limitAdvice}`);
  // Names and references are ASCII.
  const xml = content
    .toString('latin1')
    .replace(/<!--[^<>]*-->/g, '')
    .replace(/<c [^<>]*\/>/g, '')
    .replace(/<row [^<>]*(?:\/>|><\/row>)/g, '')
    .replace(/(<(?:[\w.-]+:)?c [^<>]*\bt=)(["'])e\2/g, '$1$2str$2');
  if (/<!|<[^<>]*(?:<|$)/.test(xml)) throw damaged(file, `${path} is not well-formed, or has a document type`);
  for (let at = 0, tags = 0; at < xml.length; tags += 1) {
    const next = xml.indexOf('<', at + 1);
    const end = next < 0 ? xml.length : next;
    if (end - at > maxTextBytes) throw tooMany(`${count(maxTextBytes)} bytes in a text or tag`);
    if (tags > limits.tags) throw tooMany(`${count(limits.tags)} tags`);
    at = end;
  }
  if (hasMoreTags(xml, 'sheet|Relationship', maxSheets)) throw tooMany(`${count(maxSheets)} sheets`);
  if (!xml.includes('sheetData')) return Buffer.from(xml, 'latin1');
  if (hasMoreTags(xml, 'row', limits.rows)) throw tooMany(`${count(limits.rows)} rows`);
  let [rows, columns] = [1, 1];
  for (const [, reference = ''] of xml.matchAll(/[\t-\r ](?!xmlns:r=)(?:[\w.:-]*:)?r=["']([^"']*)/g)) {
    const [, letters = '', row] = /^([A-Z]*)(\d+)$/.exec(reference) ?? [];
    if (row === undefined) throw damaged(file, `${path} has a cell ${reference}`);
    rows = Math.max(rows, Number(row));
    columns = Math.max(columns, columnNumber(letters));
    const place = `up to ${reference.slice(0, maxQuoteLength)}`;
    if (rows > limits.rows) throw tooMany(`${count(limits.rows)} rows ${place}`);
    if (rows * columns > limits.cells) throw tooMany(`${count(limits.cells)} cells ${place}`);
  }
  return Buffer.from(xml, 'latin1');
}

function hasMoreTags(xml: string, names: string, max: number): boolean {
  const tags = xml.matchAll(new RegExp(`<(?:[\\w.:-]*:)?(?:${names})[\\s/>]`, 'g'));
  for (let number = 0; number <= max; number++) if (tags.next().done) return false;
  return true;
}

/** 1 for A, 27 for AA. */
function columnNumber(letters: string): number {
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

/** An archive that contains only these parts, uncompressed: the package reads all that an archive contains. */
function packParts(parts: ReadonlyMap<string, Buffer>): Readable {
  const pieces = [...parts].flatMap(([path, content]) => {
    if (content.length === 0) return [];
    const header = Buffer.alloc(30);
    header.write('PK\x03\x04', 'latin1');
    header.writeUInt32LE(content.length, 18);
    header.writeUInt32LE(content.length, 22);
    header.writeUInt16LE(Buffer.byteLength(path), 26);
    return [header, Buffer.from(path), content];
  });
  return Readable.from(pieces, { objectMode: false });
}

/** Excel has the same limit. */
const maxCellLength = 32_767;

function* rowsOf(
  data: readonly PackageRow[],
  place: string,
  { ErrorType, limits, limitAdvice = '' }: WorkbookFile,
): Generator<WorkbookRow> {
  let characters = 0;
  for (const [index, row] of data.entries()) {
    const cells = row.map(readCell);
    // Cells may share a long text, so that a small file has many of them.
    for (const cell of cells) {
      const { length } = String(cell);
      characters += length;
      if (length <= maxCellLength) continue;
      const limit = `a cell of more than ${count(maxCellLength)} characters, the limit for a cell`;
      throw new ErrorType(`${place} ${index + 1}: ${limit}`);
    }
    if (characters > limits.millionCharacters * 1_000_000) {
      const limit = `more than ${limits.millionCharacters} million characters, the limit for a sheet`;
      throw new ErrorType(`${place} ${index + 1}: ${limit}${limitAdvice}`);
    }
    if (cells.some((cell) => cell !== '')) yield { cells, line: index + 1 };
  }
}

function readCell(cell: CellValue | null): string | number {
  if (cell === null) return '';
  // The package declares the class instead of its instances.
  if ((cell as unknown) instanceof Date) return toIsoDate(cell as unknown as Date);
  return typeof cell === 'number' ? cell : String(cell);
}

/** An error value for a number that is formatted as a date, but is none: it may be a bank code. */
function toIsoDate(date: Date): string {
  return Number.isNaN(date.getTime()) ? '#NUM!' : date.toISOString().slice(0, 10);
}

function toOneLine(text: string): string {
  const printable = text.replace(/\p{Cf}+/gu, '').replace(/[\s\p{C}]+/gu, ' ');
  return printable.trim().slice(0, maxQuoteLength);
}

/** In characters: what a message repeats of a file. */
const maxQuoteLength = 300;
