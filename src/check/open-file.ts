import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errorCodeOf } from '../base/errors.ts';

/** Why a file cannot be checked. The message is a sentence without its full stop, for the operator. It contains no IBAN. */
export class PaymentFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PaymentFileError';
  }
}

type FileKind = 'table' | 'workbook' | 'xml';

/** A file, or standard input. */
export interface PaymentFile {
  /** For messages. */
  name: string;
  kind: FileKind;
  /** In bytes; null for standard input and pipes, whose size is unknown. */
  size: number | null;
  /** At least the first 64 KiB, or the whole file. */
  start: Buffer;
  /** The whole file, from the start; can be read once. */
  chunks: AsyncIterable<Buffer>;
  /** Number of bytes that were read up to now. */
  bytesRead(): number;
  /** Must be called also after a failure: otherwise an open pipe keeps the process running. */
  close(): void;
}

/** The name of standard input on the command line. */
export const standardInput = '-';

/** Opens a file, and recognizes its kind by its first bytes, not by its name. @throws PaymentFileError */
export async function openPaymentFile(path: string): Promise<PaymentFile> {
  const name = path === standardInput ? 'standard input' : path;
  const size = path === standardInput ? null : await findSize(path);
  const stream = path === standardInput ? process.stdin : createReadStream(path, { highWaterMark: chunkBytes });
  return openPaymentStream(name, stream, { size, close: () => void stream.destroy() });
}

/** As `openPaymentFile`, for what arrives otherwise. @param name for messages */
export async function openPaymentStream(
  name: string,
  stream: AsyncIterable<Buffer | string>,
  { size = null, close = () => {} }: Partial<Pick<PaymentFile, 'size' | 'close'>> = {},
): Promise<PaymentFile> {
  let bytesRead = 0;
  const chunks = readChunks(name, stream, (bytes) => {
    bytesRead += bytes;
  });
  try {
    const start = await readStart(chunks);
    if (start.length === 0) throw new PaymentFileError(`${name} is empty`);
    const kind = recognizeKind(name, start);
    return { name, kind, size, start, chunks: prepend(start, chunks), bytesRead: () => bytesRead, close };
  } catch (error) {
    close();
    throw error;
  }
}

const chunkBytes = 65_536;

async function findSize(path: string): Promise<number | null> {
  const stats = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (stats.isDirectory()) throw new PaymentFileError(`${path} is a folder; expected a file`);
  return stats.isFile() ? stats.size : null;
}

async function* readChunks(
  name: string,
  stream: AsyncIterable<Buffer | string>,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      onRead(bytes.length);
      yield bytes;
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** An error of the file system as a `PaymentFileError`; any other is returned unchanged. */
function unreadable(path: string, error: unknown): unknown {
  const code = errorCodeOf(error);
  if (code === null) return error;
  if (code === 'ENOENT' || code === 'ENOTDIR') return new PaymentFileError(`${path} does not exist`);
  if (code === 'EACCES' || code === 'EPERM') return new PaymentFileError(`${path} cannot be read by this user`);
  return new PaymentFileError(`${path} cannot be read (${code})`);
}

async function readStart(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let length = 0; length < chunkBytes; ) {
    const { value, done } = await chunks.next();
    if (done) break;
    parts.push(value);
    length += value.length;
  }
  return Buffer.concat(parts);
}

async function* prepend(start: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield start;
  yield* rest;
}

/** The only place that recognizes what a file is. @throws PaymentFileError for a kind that cannot be checked */
function recognizeKind(name: string, start: Buffer): FileKind {
  const signature = start.subarray(0, 4).toString('hex');
  if (/^504b0[357]/.test(signature)) return 'workbook';
  if (signature === 'd0cf11e0') {
    throw new PaymentFileError(
      `${name} is in the old XLS format or has a password; save it as XLSX or CSV without a password`,
    );
  }
  if (signature.startsWith('1f8b')) throw new PaymentFileError(`${name} is compressed with gzip; unpack it first`);
  if (signature === '25504446') throw new PaymentFileError(`${name} is a PDF; expected CSV, TSV, XLSX or XML`);
  // After a byte order mark, and between the zeros of UTF-16.
  const [first] = start.toString('latin1').replace(/^[\xff\xfe\xef\xbb\xbf\0\s]+/, '');
  return first === '<' ? 'xml' : 'table';
}
