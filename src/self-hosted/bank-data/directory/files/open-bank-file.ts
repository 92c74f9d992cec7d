import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorCodeOf } from '../../../../errors.ts';
import { ImportError } from '../import-error.ts';
import { chain } from './chain.ts';

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
