import { crc32 } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import type { FileErrorType } from './input-file.ts';
import { count } from './process/terminal.ts';

/* The XML files in the archive of a workbook. */

export interface WorkbookFile {
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

/** Between two tags: the longest cell, and each of its characters written as a reference. */
const maxTextLength = 400_000;

export function damaged({ name, ErrorType }: WorkbookFile, problem: string): Error {
  return new ErrorType(`${name} is not an XLSX workbook, or is damaged: ${problem}`);
}

/** The XML files in a workbook, by path in lower case. */
export interface Parts {
  file: WorkbookFile;
  paths(): readonly string[];
  has(path: string): boolean;
  read(path: string): AsyncGenerator<Buffer>;
}

export async function openParts(file: WorkbookFile): Promise<Parts> {
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

export function tooLarge({ name, ErrorType }: WorkbookFile, content: string): Error {
  return new ErrorType(`${name} has ${content}, the limit for a workbook; save the sheet that is needed as CSV`);
}

interface Handlers {
  /** @param name without prefix */
  open(name: string, attributes: Record<string, string>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Parses a part, and calls `afterPiece` after each piece of it. */
export async function* parsePart<Item>(
  parts: Parts,
  path: string,
  handlers: Handlers,
  afterPiece: () => Iterable<Item>,
) {
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

export async function parseWhole(parts: Parts, path: string, handlers: Handlers): Promise<void> {
  // The handlers read everything, so there are no rows.
  for await (const _ of parsePart(parts, path, handlers, () => []));
}

export function toOneLine(text: string): string {
  const printable = text.replace(/\p{Cf}+/gu, '').replace(/[\s\p{C}]+/gu, ' ');
  return printable.trim().slice(0, maxQuoteLength);
}

/** In characters: what a message repeats of a file. */
const maxQuoteLength = 100;
