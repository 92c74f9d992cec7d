import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorCodeOf } from '../../../base/errors.ts';

export interface BankFile {
  /** The file name for messages, without its folder. */
  name: string;
  /** In bytes; null for a pipe, whose size is unknown. */
  size: number | null;
  /** At least the first 16 KB, or the whole file. */
  start: Buffer;
  /** The whole file, from the start; can be read once. */
  chunks: AsyncIterable<Buffer>;
  /** Must be called also after a failure: otherwise an open pipe keeps the process running. */
  close(): void;
}

/** Ten times the largest official file. */
export const maxFileMb = 32;

/** Opens a file or a pipe and reads its start. @throws ImportError */
export async function openBankFile(path: string): Promise<BankFile> {
  const stats = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (stats.isDirectory()) throw new ImportError(`${path} is a folder; expected the downloaded file`);
  // It may have no end, such as /dev/zero.
  if (stats.isCharacterDevice() || stats.isBlockDevice()) {
    throw new ImportError(`${path} is a device; expected the downloaded file`);
  }
  const size = stats.isFile() ? stats.size : null;
  if (size !== null && size > maxFileMb * bytesPerMb) throw tooLarge(path);
  const stream = createReadStream(path);
  const chunks = readChunks(path, stream);
  const start = await readStart(chunks);
  if (start.length === 0) throw new ImportError(`${path} is empty`);
  return { name: basename(path), size, start, chunks: chain([start], chunks), close: () => void stream.destroy() };
}

const bytesPerMb = 1_000_000;

async function* readChunks(path: string, stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      // The size of a pipe is unknown, and a file may grow.
      if (bytes > maxFileMb * bytesPerMb) throw tooLarge(path);
      yield chunk;
    }
  } catch (error) {
    throw unreadable(path, error);
  }
}

function tooLarge(path: string): ImportError {
  return new ImportError(
    `${path} has more than ${maxFileMb} MB, the limit for a bank file; expected the downloaded file`,
  );
}

/** An error of the file system as an `ImportError`; any other is returned unchanged. */
function unreadable(path: string, error: unknown): unknown {
  const code = errorCodeOf(error);
  if (code === null) return error;
  if (code === 'ENOENT' || code === 'ENOTDIR') return new ImportError(`${path} does not exist`);
  if (code === 'EACCES' || code === 'EPERM') return new ImportError(`${path} cannot be read by this user`);
  return new ImportError(`${path} cannot be read (${code}); expected the downloaded file`);
}

/** Enough for the first rows, which identify format and encoding. */
const startBytes = 16_384;

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
  /** From 1, as in an editor or spreadsheet; the number of the entry in JSON and XML. */
  line: number;
  /** Why it cannot be read. */
  problem?: string;
  /** Whether it is in the last line of a text file, without a line end: the file may have been cut off within it. */
  hasNoEnd?: boolean;
}

/** The rows of a text file, or of one sheet of a workbook. Blank ones are skipped. */
export interface Sheet {
  /** For messages, before the number of a row: `line`, or `sheet "Banks", row`. */
  place: string;
  rows: AsyncIterable<Row>;
}

/** The items that were already read, then the rest. */
export async function* chain<Item>(first: Iterable<Item>, rest: AsyncIterator<Item>): AsyncGenerator<Item> {
  yield* first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** The next items, at most this many. */
export async function take<Item>(items: AsyncIterator<Item>, max: number): Promise<Item[]> {
  const taken: Item[] = [];
  while (taken.length < max) {
    const { value, done } = await items.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

/** Why nothing was imported. The message is a sentence without its full stop, for the operator. */
export class ImportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportError';
  }
}
