import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { ImportError } from '../import-error.ts';

export interface BankFile {
  /** Without its folder: as it stands in messages. */
  name: string;
  /** In bytes; null for a pipe, whose end nobody knows. */
  size: number | null;
  /** How the file begins: a few thousand bytes, or all of it. */
  start: Buffer;
  /** All of it, from the start; to be read once. */
  chunks: AsyncIterable<Buffer>;
  /** To be called however reading ended: a pipe would be waited for otherwise. */
  close(): void;
}

/** Opens a file or a pipe and reads its beginning. @throws ImportError */
export async function openBankFile(path: string): Promise<BankFile> {
  const name = basename(path);
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw new ImportError(`${path} is a folder; name the file that was downloaded`);
    const stream = createReadStream(path);
    const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
    const start = await readStart(chunks);
    if (start.length === 0) throw new ImportError(`${path} is empty`);
    const size = stats.isFile() ? stats.size : null;
    return { name, size, start, chunks: join(start, chunks), close: () => void stream.destroy() };
  } catch (error) {
    throw explain(error, path);
  }
}

/** Enough for the first lines, which tell formats and encodings apart. */
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

async function* join(start: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield start;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function explain(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return new ImportError(`there is no file ${path}`);
  if (code === 'EACCES' || code === 'EPERM') return new ImportError(`${path} may not be read by this user`);
  return error;
}
