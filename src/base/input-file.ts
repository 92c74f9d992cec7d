import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errorCodeOf } from './errors.ts';

/** A file, or what arrives through a pipe. */
export interface InputFile {
  /** For messages. */
  name: string;
  /** In bytes; null for pipes, whose size is unknown. */
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

/** The class of the errors about a file. Their messages are sentences without their full stop, for the operator. */
export type FileErrorType = new (message: string) => Error;

interface ReadOptions {
  ErrorType: FileErrorType;
  /** For messages: `the downloaded file`. */
  expected?: string;
  /** A larger file is refused, as are devices, which may have no end. The noun is for messages: `a bank file`. */
  limit?: { mb: number; noun: string };
}

/** Opens a file or a pipe, and reads its start. @throws ErrorType */
export async function openInputFile(path: string, options: ReadOptions): Promise<InputFile> {
  const { ErrorType, expected = 'a file', limit } = options;
  const stats = await stat(path).catch((error: unknown) => {
    throw toFileError(path, error, options);
  });
  if (stats.isDirectory()) throw new ErrorType(`${path} is a folder; expected ${expected}`);
  if (limit && (stats.isCharacterDevice() || stats.isBlockDevice())) {
    throw new ErrorType(`${path} is a device; expected ${expected}`);
  }
  const size = stats.isFile() ? stats.size : null;
  checkSize(path, size ?? 0, options);
  const stream = createReadStream(path);
  return openInputStream(path, stream, { ...options, size, close: () => void stream.destroy() });
}

/** As `openInputFile`, for what arrives otherwise. @param name for messages */
export async function openInputStream(
  name: string,
  stream: AsyncIterable<Buffer | string>,
  { size = null, close = () => {}, ...options }: ReadOptions & Partial<Pick<InputFile, 'size' | 'close'>>,
): Promise<InputFile> {
  let bytesRead = 0;
  const chunks = readChunks();
  try {
    const parts = await take(chunks, () => bytesRead < startBytes);
    const start = Buffer.concat(parts);
    if (start.length === 0) throw new options.ErrorType(`${name} is empty`);
    return { name, size, start, chunks: chain([start], chunks), bytesRead: () => bytesRead, close };
  } catch (error) {
    close();
    throw error;
  }

  async function* readChunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of stream) {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
        bytesRead += bytes.length;
        // The size of a pipe is unknown, and a file may grow.
        checkSize(name, bytesRead, options);
        yield bytes;
      }
    } catch (error) {
      throw toFileError(name, error, options);
    }
  }
}

/** Enough for the first rows, which identify format and encoding. */
const startBytes = 65_536;

function checkSize(name: string, bytes: number, { ErrorType, expected = 'a file', limit }: ReadOptions): void {
  if (limit === undefined || bytes <= limit.mb * 1_000_000) return;
  throw new ErrorType(`${name} has more than ${limit.mb} MB, the limit for ${limit.noun}; expected ${expected}`);
}

/** An error of the file system in words; any other is returned unchanged. */
function toFileError(path: string, error: unknown, { ErrorType, expected }: ReadOptions): unknown {
  const code = errorCodeOf(error);
  if (code === null) return error;
  if (code === 'ENOENT' || code === 'ENOTDIR') return new ErrorType(`${path} does not exist`);
  if (code === 'EACCES' || code === 'EPERM') return new ErrorType(`${path} cannot be read by this user`);
  return new ErrorType(`${path} cannot be read (${code})${expected === undefined ? '' : `; expected ${expected}`}`);
}

export type FileKind = 'archive' | 'old-workbook' | 'gzip' | 'pdf' | 'xml' | 'json' | 'text';

/** What a file is, by its first bytes, not by its name. An old workbook, or one with a password, is a compound file. */
export function recognizeKind(start: Buffer): FileKind {
  const signature = start.toString('hex', 0, 4);
  const binary = signatures.find(([pattern]) => pattern.test(signature));
  if (binary !== undefined) return binary[1];
  // After a byte order mark, and between the zeros of UTF-16.
  const [first] = start.toString('latin1').replace(/^[\xff\xfe\xef\xbb\xbf\0\s]+/, '');
  if (first === '<') return 'xml';
  return first === '[' || first === '{' ? 'json' : 'text';
}

const signatures: readonly (readonly [pattern: RegExp, kind: FileKind])[] = [
  [/^504b(?:0[357]|$)/, 'archive'],
  [/^d0cf11e0/, 'old-workbook'],
  [/^1f8b/, 'gzip'],
  [/^25504446/, 'pdf'],
];

/** The next items, while more are needed. */
export async function take<Item>(items: AsyncIterator<Item>, needsMore: (taken: number) => boolean): Promise<Item[]> {
  const { first, failure } = await takeReadable(items, needsMore);
  if (failure !== null) throw failure;
  return first;
}

/** The next items, while more are needed; fewer if reading fails, with the error. */
export async function takeReadable<Item>(
  items: AsyncIterator<Item>,
  needsMore: (taken: number) => boolean,
): Promise<{ first: Item[]; failure: unknown }> {
  const first: Item[] = [];
  try {
    while (needsMore(first.length)) {
      const { value, done } = await items.next();
      if (done) break;
      first.push(value);
    }
  } catch (error) {
    return { first, failure: error };
  }
  return { first, failure: null };
}

/** The items that were already read, then the rest, which is closed with it. */
export async function* chain<Item>(first: Iterable<Item>, rest: AsyncIterator<Item>): AsyncGenerator<Item> {
  try {
    yield* first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** The same chunks, or an error once they have more bytes. */
export async function* limitBytes(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  createError: () => Error,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw createError();
    yield chunk;
  }
}

/** Items as if they were read. */
export async function* replay<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}
