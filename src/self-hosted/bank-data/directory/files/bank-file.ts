import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorCodeOf } from '../../../../errors.ts';

export interface BankFile {
  /** The file name for messages, without its folder. */
  name: string;
  /** In bytes; null for a pipe, whose size is unknown. */
  size: number | null;
  /** The first few thousand bytes, or the whole file. */
  start: Buffer;
  /** The whole file, from the start; can be read once. */
  chunks: AsyncIterable<Buffer>;
  /** Must be called also after a failure: otherwise an open pipe keeps the process running. */
  close(): void;
}

/** Opens a file or a pipe and reads its start. @throws ImportError */
export async function openBankFile(path: string): Promise<BankFile> {
  const name = basename(path);
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw new ImportError(`${path} is a folder; expected the downloaded file`);
    // It may have no end, such as /dev/zero.
    if (stats.isCharacterDevice() || stats.isBlockDevice()) {
      throw new ImportError(`${path} is a device; expected the downloaded file`);
    }
    const stream = createReadStream(path);
    const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
    const start = await readStart(chunks);
    if (start.length === 0) throw new ImportError(`${path} is empty`);
    const size = stats.isFile() ? stats.size : null;
    return { name, size, start, chunks: chain([start], chunks), close: () => void stream.destroy() };
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new ImportError(`there is no file ${path}`);
    if (code === 'EACCES' || code === 'EPERM') throw new ImportError(`${path} cannot be read by this user`);
    throw error;
  }
}

/** Enough for the first lines, which identify format and encoding. */
const startBytes = 4_096;

async function readStart(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let length = 0; length < startBytes; ) {
    const { value, done } = await chunks.next();
    if (done) break;
    parts.push(value);
    length += value.length;
  }
  return Buffer.concat(parts);
}

export interface Row {
  /** Only workbooks contain numbers. */
  cells: readonly (string | number)[];
  /** From 1, as in an editor or spreadsheet. */
  line: number;
}

/** The rows of a text file, or of one sheet of a workbook. Blank ones are skipped. */
export interface Sheet {
  /** For messages, before the line number: `blz.csv, line`. */
  place: string;
  rows: AsyncIterable<Row>;
}

/** The items that were already read, then the rest. */
export async function* chain<Item>(first: Iterable<Item>, rest: AsyncIterator<Item>): AsyncGenerator<Item> {
  yield* first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Why nothing was imported. The message is a sentence without its full stop, for the operator. */
export class ImportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportError';
  }
}
